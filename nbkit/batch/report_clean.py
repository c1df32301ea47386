"""What a notebook's outputs go through before they reach a page: an allow-list for tags, attributes and CSS.

Corpus text may hold anything. The tables escape it where they are made; this is the second line of
defence, and it treats every output as hostile: what is not allowed is shown as text, never run.
"""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from pathlib import Path

import bleach
import tinycss2
import yaml
from bleach.css_sanitizer import CSSSanitizer
from bleach.sanitizer import Cleaner

_ALLOWED = {
    kind: frozenset(names.split())
    for kind, names in yaml.safe_load(
        Path(__file__).with_name("report_allowed.yaml").read_text(encoding="utf-8")
    ).items()
}

_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style\s*>", re.IGNORECASE | re.DOTALL)
_PANDAS_STYLE = re.compile(r"<style scoped>\s*\.dataframe\b.*?</style>", re.DOTALL)  # the page styles tables itself
_SVG = re.compile(r"<svg\b.*?</svg\s*>", re.IGNORECASE | re.DOTALL)
_SVG_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
_STYLED_TABLE = re.compile(r"T_\w+")


def clean_html(html: str) -> str:
    """*html* with harmless tags kept, everything else shown as text, SVG turned into pictures.

    The rules of pandas' Styler (``#T_…``) are kept, after cleaning; other ``<style>`` blocks are not.

    >>> clean_html('<b onclick="x()">bold</b> <script>alert(1)</script>')
    '<b>bold</b> &lt;script&gt;alert(1)&lt;/script&gt;'
    >>> clean_html('<a href="javascript:x()">click</a>')
    '<a>click</a>'
    """
    rules: list[str] = []

    def keep_rules(match: re.Match) -> str:
        css = clean_css(match[1])
        rules.append(css)
        return "" if css or not match[1].strip() else match[0]

    body = _STYLE.sub(keep_rules, _PANDAS_STYLE.sub("", html))
    body = _SVG.sub(lambda match: f'<img alt="drawing" src="{svg_uri(match[0])}">', body)
    css = "\n".join(filter(None, rules))
    return (f"<style>{css}</style>" if css else "") + _cleaner().clean(body)


def clean_css(css: str) -> str:
    """The rules of *css* that style one of pandas' tables (each selector starts with ``#T_``), cleaned.

    >>> clean_css("#T_ab td { color: red; position: fixed; background: url(http://x) } body { color: red }")
    '#T_ab td {color: red}'
    """
    kept = []
    for rule in tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True):
        if rule.type != "qualified-rule":
            continue
        selector = tinycss2.serialize(rule.prelude).strip()
        declarations = _clean_declarations(rule.content)
        ours = all(part.strip().startswith("#T_") for part in selector.split(","))
        if ours and declarations and not set("<>{}\\") & set(selector + declarations):
            kept.append(f"{selector} {{{declarations}}}")
    return "\n".join(kept)


def svg_uri(svg: str) -> str:
    """*svg* as a ``data:`` address for ``<img>``, where a browser draws it but runs nothing in it."""
    if "xmlns=" not in svg.partition(">")[0] and "<?xml" not in svg[:100]:
        svg = re.sub(r"<svg\b", f"<svg {_SVG_NAMESPACE}", svg, count=1, flags=re.IGNORECASE)
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()


def _clean_declarations(content) -> str:
    parts = []
    for declaration in tinycss2.parse_declaration_list(content, skip_comments=True, skip_whitespace=True):
        if declaration.type != "declaration" or declaration.lower_name not in _ALLOWED["css_properties"]:
            continue
        if all(map(_is_plain, declaration.value)):
            important = " !important" if declaration.important else ""
            parts.append(f"{declaration.lower_name}: {tinycss2.serialize(declaration.value).strip()}{important}")
    return "; ".join(parts)


def _is_plain(token) -> bool:
    if token.type == "function":
        return token.lower_name in _ALLOWED["css_functions"] and all(map(_is_plain, token.arguments))
    return token.type not in ("url", "error", "[] block", "{} block", "at-keyword")


class _Declarations(CSSSanitizer):
    """bleach's hook for ``style`` attributes, with the rules of this module."""

    def sanitize_css(self, style: str) -> str:
        return _clean_declarations(style)


def _is_allowed(tag: str, attribute: str, value: str) -> bool:
    if attribute in _ALLOWED["attributes"]:
        return True
    if attribute == "id":  # other ids could stand in for the page's own elements
        return bool(_STYLED_TABLE.fullmatch(value))
    if tag == "a" and attribute == "href":
        return value.startswith(("https://", "http://", "mailto:", "#"))
    if tag == "img" and attribute in ("alt", "width", "height"):
        return True
    return (
        tag == "img"
        and attribute == "src"
        and re.match(r"data:image/(svg\+xml|png|jpeg|gif);base64,", value) is not None
    )


@lru_cache(maxsize=1)
def _cleaner() -> Cleaner:
    return bleach.Cleaner(
        tags=_ALLOWED["tags"],
        attributes=_is_allowed,
        protocols=frozenset({"http", "https", "mailto", "data"}),
        css_sanitizer=_Declarations(),
    )
