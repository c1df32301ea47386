"""The frame of the report's pages, which packages above share: templates, style, script, and a policy for browsers."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import nbkit
from nbkit.files import file_digest

TEMPLATES = Path(__file__).parent / "templates"


def environment(*folders: Path) -> Environment:
    """The templates in *folders*, before the report's own; their styles and scripts are globals (``report_css``).

    The policy allows a page to fetch nothing, and to run no script but these.
    """
    files = [file for folder in (TEMPLATES, *folders) for file in sorted(folder.glob("*.[cj]s*"))]
    texts = {file.name.replace(".", "_"): file.read_text("utf-8") for file in files}
    digests = [hashlib.sha256(text.encode()).digest() for name, text in texts.items() if name.endswith("_js")]
    allowed = " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in digests)
    made = Environment(loader=FileSystemLoader([*folders, TEMPLATES]), autoescape=True, undefined=StrictUndefined)
    made.globals |= {name: Markup(text) for name, text in texts.items()}
    made.globals |= {
        "icon": "data:image/svg+xml;base64," + b64encode(TEMPLATES.joinpath("icon.svg").read_bytes()).decode(),
        "policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'",
        "version": nbkit.__version__,
    }
    return made


@cache
def source_digest(folder: Path) -> str:
    """A digest of the code in *folder* and of its templates: pages of another version are made again."""
    sources = sorted([*(folder / "templates").iterdir(), *folder.glob("*.py")])
    return digest_of(*map(file_digest, sources))


def digest_of(*parts: Any) -> str:
    """A digest of what a page is made of."""
    return hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
