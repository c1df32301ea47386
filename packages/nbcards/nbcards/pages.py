"""Pages of HTML that load nothing, in the look of nbkit's report, whose frame and style they share."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape as escaped
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

import nbkit
from nbkit.files import file_digest

TEMPLATES = Path(__file__).parent / "templates"
#: Letters of a word after which its line may end.
_LONG_WORD = re.compile(r"\S{40}(?=\S)")


@cache
def _templates() -> Environment:
    shared = files("nbkit.report").joinpath("templates")
    css, script, icon = (shared.joinpath(name).read_text("utf-8") for name in ("report.css", "report.js", "icon.svg"))
    more_css, more_script = (TEMPLATES.joinpath(name).read_text("utf-8") for name in ("sentences.css", "sentences.js"))
    known = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in (script, more_script)]
    allowed = " ".join(f"'sha256-{digest}'" for digest in known)
    loaders = [FileSystemLoader(TEMPLATES), PackageLoader("nbkit.report")]
    made = Environment(loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined)
    made.filters |= {"duration": duration, "emphasised": emphasised}
    made.globals |= {
        "css": Markup(css), "script": Markup(script), "sentences_css": Markup(more_css),
        "sentences_script": Markup(more_script), "version": nbkit.__version__,
        "icon": "data:image/svg+xml;base64," + base64.b64encode(icon.encode()).decode(),
        # Nothing is fetched, and no script runs but those whose digests stand here.
        "policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src {allowed}; base-uri 'none'; form-action 'none'",
    }  # fmt: skip
    return made


def rendered(template: str, **values: Any) -> str:
    """A page, or a part of one, of this template."""
    return _templates().get_template(template).render(values)


@cache
def code_digest() -> str:
    """A digest of the code and templates behind the pages: those of another version are made again."""
    sources = sorted([*TEMPLATES.iterdir(), *Path(__file__).parent.glob("*.py")])
    return hashlib.blake2b("".join(map(file_digest, sources)).encode(), digest_size=16).hexdigest()


def duration(seconds: float) -> str:
    """*seconds* in readable units.

    >>> duration(0.4), duration(75), duration(7260)
    ('0.4 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def emphasised(text: str) -> Markup:
    """*text* as HTML, with what stands between asterisks emphasised.

    >>> emphasised("most of all *a < b*")
    Markup('most of all <em>a &lt; b</em>')
    """
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", str(escape(text))))


def with_spans(text: str, spans: Iterable[Mapping[Any, Any]], of: str) -> Markup:
    """*text* as HTML with its *spans* marked, those whose "text" is *of*; of overlapping ones the first has both.

    >>> with_spans("a < 12", [{"text": "source", "start": 4, "end": 6, "label": "number"}], "source")
    Markup('a &lt; <mark title="number">12</mark>')
    """
    parts, done = [], 0
    for start, end, label in sorted(
        (each["start"], each["end"], each["label"]) for each in spans if each["text"] == of
    ):
        start = max(start, done)
        if start < end:
            parts.append(_breakable(text[done:start]))
            parts.append(f'<mark title="{escape(label)}">{_breakable(text[start:end])}</mark>')
            done = end
    return Markup("".join([*parts, _breakable(text[done:])]))


def _breakable(text: str) -> str:
    """*text* escaped as HTML; lines may end in words so long that a table would outgrow its page."""
    return escaped(_LONG_WORD.sub("\\g<0>\0", text)).replace("\0", "<wbr>")
