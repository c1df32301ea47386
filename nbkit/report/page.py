"""One executed notebook as blocks of clean HTML: an allow-list for tags, attributes and CSS, then prose, code, outputs.

Corpus text may hold anything. Tables escape it when they are made; this is the second line of defence, and it treats
every output as hostile: what is not allowed is shown as text, never run.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from html import unescape
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import bleach
import mistune
import tinycss2
from bleach.css_sanitizer import CSSSanitizer
from bleach.sanitizer import Cleaner
from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from nbkit.errors import DataError
from nbkit.yaml_text import read_own

_ALLOWED = {
    kind: frozenset(names.split()) for kind, names in read_own(Path(__file__).with_name("allowed.yaml")).items()
}


_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style\s*>", re.IGNORECASE | re.DOTALL)


_PANDAS_STYLE = re.compile(r"<style scoped>\s*\.dataframe\b.*?</style>", re.DOTALL)  # the page styles tables itself


_SVG = re.compile(r"<svg\b.*?</svg\s*>", re.IGNORECASE | re.DOTALL)


_SVG_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'


_NO_PICTURE = re.compile(r"<img(?![^>]*\bsrc=)[^>]*>")  # what is left of one whose address is not allowed


_STYLED_TABLE = re.compile(r"T_\w+")


def clean_html(html: str) -> str:
    """*html* with harmless tags kept, everything else shown as text, SVG turned into pictures.

    The rules of pandas' Styler (``#T_…``) stay, after cleaning; other ``<style>`` blocks are not.

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
    clean = _NO_PICTURE.sub("", _cleaner().clean(body))
    return (f"<style>{css}</style>" if css else "") + clean


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


# ----------------------------------------------------------------------------
# A notebook: prose, folded code, outputs.

#: Tag of cells whose outputs show sentences of the corpus; `leave_out_text` removes them.
CORPUS_TEXT = "corpus-text"


#: Class of the element around a notebook's provenance footer.
PROVENANCE_CLASS = "nbkit-provenance"


_LEFT_OUT = "Removed from this copy: this output shows sentences of the corpus, which must not be passed on."


_ERROR_LEFT_OUT = "Message and traceback are removed from this copy because they may quote the corpus."


_MADE_BY_PAPERMILL = frozenset({"papermill-error-cell-tag"})  # its own error banner; the page has a better one


#: What the code of a cell is called, by its tag.
_FOLDS = {"injected-parameters": "Parameters of this run", "parameters": "Parameters and their defaults"}


#: Tag of cells whose code is part of what the page explains, and is always shown.
BY_HAND = "by-hand"


_CAPTION = re.compile(r"<caption[^>]*>(.*?)</caption>", re.DOTALL)
_TABLE_ID = re.compile(r'id="(T_\w+)"')
_ELEMENT = re.compile(r"<[^>]*>")
_SECTION = re.compile(r"<h([23])>(.*?)</h\1>", re.DOTALL)
_ITALICS = re.compile(r"<em>([^<]*)</em>")
_LEAST_OF_A_TITLE = 12  # letters; fewer could be any word in italics


_WIDGET = "application/vnd.jupyter.widget-view+json"


_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


_TO_HTML = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "footnotes", "math"])
for _kind, _element in (("inline_math", "code"), ("block_math", "pre")):
    _TO_HTML.renderer.register(  # type: ignore[union-attr]
        _kind, lambda _, tex, element=_element: f'<{element} class="tex">{escape(tex)}</{element}>'
    )


#: A formula as the renderer above leaves it; it becomes MathML after cleaning, of known elements and attributes.
_TEX = re.compile(r'<(code|pre) class="tex">(.*?)</\1>', re.DOTALL)


_PRINTED = Markup('<pre class="printed">{}</pre>')


_TRACEBACK = Markup('<pre class="traceback" tabindex="0">{}</pre>')


_CELL = re.compile(r'(<td\b[^>]*class="data row(\d+) col(\d+)[^"]*"[^>]*>)([^<]*)(</td>)')
#: The same with anything in it; letters that a phrase needs to find a sentence; what a link to one says.
_TEXT_CELL = re.compile(_CELL.pattern.replace("[^<]*", ".*?"), re.DOTALL)
_PHRASE = 8
_THIS = "this sentence with all that is known of it"


#: What matplotlib writes of an artist with an address: a mark at a place, or the outline of a bar.
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


_LINK = re.compile(
    r'<a xlink:href="\.\./sentences\.html#(?P<filters>[\w%&;=+.~-]*)"[^>]*>(?P<inside>.*?)</a>', re.DOTALL
)


_MARK_SHAPE = re.compile(r'<use [^>]*\bx="([\d.-]+)" y="([\d.-]+)"')


_BAR_SHAPE = re.compile(r'<path d="([ML\d\s.-]+z)\s*"')


@dataclass(frozen=True)
class Block:
    """One cell of a page.

    source: prose, or highlighted code; name: what the code is called, "" for prose. open: whether the code is always
    shown. outputs: clean HTML, one entry per output. messages: what was written to standard error.
    """

    source: Markup
    name: str = ""
    outputs: tuple[Markup, ...] = ()
    messages: str = ""
    failed: bool = False
    executed: bool = True
    open: bool = False


@dataclass(frozen=True)
class Excerpt:
    """What the index shows of a notebook: title, first paragraph, first figure, and the error, if it failed.

    words: its prose and the captions of its tables, to be searched; no text of a corpus.
    """

    title: str = ""
    lead: str = ""
    figure: str = ""
    error: str = ""
    words: str = ""


def read_notebook(path: Path) -> dict[str, Any]:
    """The notebook at *path* as plain data, its multi-line strings joined. Raises `DataError`.

    Cells that papermill adds are skipped: its banner of an error is one, and the page has a better one.
    """
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = _joined(cell["source"])
            cell["tags"] = frozenset(cell.setdefault("metadata", {}).get("tags", ()))
            for output in cell.setdefault("outputs", []):
                output["text"] = _joined(output.get("text", ""))
                output["data"] = {mime: _joined(data) for mime, data in output.get("data", {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"not a Jupyter notebook (version 4): {error!r}; delete it and run again", path) from None
    return {**notebook, "cells": [cell for cell in notebook["cells"] if not cell["tags"] & _MADE_BY_PAPERMILL]}


def leave_out_text(notebook: dict[str, Any]) -> dict[str, Any]:
    """A copy of *notebook* without the sentences of its corpus.

    Outputs of cells tagged ``corpus-text`` become a note; printed lines and the messages of errors,
    which may quote a sentence, are skipped everywhere.
    """
    note = {"output_type": "display_data", "data": {"text/html": f'<p class="left-out">{escape(_LEFT_OUT)}</p>'}}

    def without(output: dict[str, Any]) -> dict[str, Any]:
        if output.get("output_type") != "error":
            return output
        return {**output, "evalue": "(removed)", "traceback": [f"{output.get('ename')}\n{_ERROR_LEFT_OUT}"]}

    cells = []
    for cell in notebook["cells"]:
        kept = [without(output) for output in cell["outputs"] if output.get("output_type") != "stream"]
        cells.append({**cell, "outputs": [note] if CORPUS_TEXT in cell["tags"] and cell["outputs"] else kept})
    return {**notebook, "cells": cells}


def excerpt(notebook: Mapping[str, Any]) -> Excerpt:
    """The first heading, paragraph and figure of *notebook*, and the last line of its error."""
    prose = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    outputs = [output for cell in notebook["cells"] if CORPUS_TEXT not in cell["tags"] for output in cell["outputs"]]
    failed = [
        output for cell in notebook["cells"] for output in cell["outputs"] if output.get("output_type") == "error"
    ]
    return Excerpt(
        title=next(filter(None, map(_first_heading, prose)), ""),
        lead=next(filter(None, map(_first_paragraph, prose)), ""),
        figure=next(filter(None, (_picture(output["data"]) for output in outputs)), ""),
        error=_error_line(failed[0]) if failed else "",
        words=" ".join(map(_plain, [*prose, *(caption for output in outputs for caption in _captions(output))])),
    )


def _captions(output: Mapping[str, Any]) -> Iterator[str]:
    for caption in _CAPTION.findall(output["data"].get("text/html", "")):
        yield unescape(_ELEMENT.sub("", caption))


@dataclass(frozen=True)
class Heading:
    """A heading within a page: its anchor, its text and whether it is one of the second level."""

    anchor: str
    text: str
    is_main: bool


def anchored(found: Iterable[Block]) -> tuple[list[Block], list[Heading]]:
    """The blocks of a page with an anchor at each heading of the second and third level, and these headings."""
    headings: list[Heading] = []

    def with_anchor(match: re.Match) -> str:
        text = unescape(_ELEMENT.sub("", match[2])).strip()
        name = "s-" + (re.sub(r"\W+", "-", text.lower()).strip("-") or "section")
        taken = sum(each.anchor == name or each.anchor.startswith(f"{name}--") for each in headings)
        headings.append(Heading(f"{name}--{taken + 1}" if taken else name, text, match[1] == "2"))
        return f'<h{match[1]} id="{headings[-1].anchor}">{match[2]}</h{match[1]}>'

    blocks = [
        block if block.name else replace(block, source=Markup(_SECTION.sub(with_anchor, block.source)))
        for block in found
    ]
    return blocks, headings


def linked(found: Iterable[Block], pages: Mapping[str, str]) -> list[Block]:
    """The blocks of a page with links where prose names another page by its title in italics, or how it begins.

    pages: the addresses of pages by title.

    >>> prose = [Block(Markup("<p>See <em>What is lost?</em> and <em>the rest</em>.</p>"))]
    >>> linked(prose, {"What is lost, and why?": "lost.html"})[0].source
    Markup('<p>See <a href="lost.html"><em>What is lost?</em></a> and <em>the rest</em>.</p>')
    """

    def with_link(match: re.Match) -> str:
        named = unescape(_ELEMENT.sub("", match[1])).rstrip("?.")
        page = next((file for title, file in pages.items() if title.startswith(named)), None)
        return f'<a href="{escape(page)}">{match[0]}</a>' if page and len(named) >= _LEAST_OF_A_TITLE else match[0]

    return [
        block if block.name else replace(block, source=Markup(_ITALICS.sub(with_link, block.source))) for block in found
    ]


def blocks(notebook: Mapping[str, Any], filters: Mapping[str, str] | None = None) -> list[Block]:
    """The cells of *notebook* in their order, every output cleaned.

    filters: what all of the page's sentences are of; cells of tables and marks of figures then lead to theirs.
    """
    found: list[Block] = []
    heading = "output of this notebook"
    for cell in notebook["cells"]:
        if not cell["source"].strip():
            continue
        if cell["cell_type"] == "markdown":
            heading = _first_heading(cell["source"]) or heading
            found.append(Block(_markdown(cell["source"])))
        elif cell["cell_type"] == "code":
            found.append(_code_block(cell, f"Figure: {heading}", filters))
    return _with_own_tables(found)


def _with_own_tables(found: list[Block]) -> list[Block]:
    """*found* with another id for a styled table whose id an earlier one has."""
    seen: dict[str, int] = {}

    def renamed(output: Markup) -> Markup:
        for name in dict.fromkeys(_TABLE_ID.findall(output)):
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                output = Markup(re.sub(rf"\b{name}\b", f"{name}_{seen[name]}", output))
        return output

    return [replace(block, outputs=tuple(map(renamed, block.outputs))) for block in found]


def has_provenance(found: Iterable[Block]) -> bool:
    """Whether the notebook showed its provenance footer itself (a failed one does not get that far)."""
    return any(PROVENANCE_CLASS in output for block in found for output in block.outputs)


def _code_block(cell: Mapping[str, Any], alt: str, filters: Mapping[str, str] | None) -> Block:
    outputs = cell["outputs"]
    messages = [each for each in outputs if each.get("output_type") == "stream" and each.get("name") == "stderr"]
    return Block(
        source=Markup(highlight(cell["source"], PythonLexer(), HtmlFormatter(cssclass="code"))),
        name=next((name for tag, name in _FOLDS.items() if tag in cell["tags"]), "Code"),
        outputs=tuple(_shown([each for each in outputs if each not in messages], alt, filters)),
        messages=_printed("".join(each["text"] for each in messages)),
        failed=(failed := any(each.get("output_type") == "error" for each in outputs)),
        open=failed or BY_HAND in cell["tags"],
        executed=cell.get("execution_count") is not None or bool(outputs),
    )


def _shown(outputs: Iterable[Mapping[str, Any]], alt: str, filters: Mapping[str, str] | None) -> Iterator[Markup]:
    """Clean HTML of *outputs*; prints that follow each other are one."""
    for kind, group in groupby(outputs, key=lambda output: output.get("output_type")):
        if kind == "stream":
            if text := _printed("".join(output["text"] for output in group)):
                yield _PRINTED.format(text)
        elif kind == "error":
            from nbconvert.filters.ansi import ansi2html  # nbconvert takes seconds to import: only where needed

            for output in group:
                lines = output.get("traceback") or [f"{output.get('ename')}: {output.get('evalue')}"]
                yield _TRACEBACK.format(Markup(ansi2html("\n".join(lines))))
        elif kind in ("display_data", "execute_result"):
            yield from filter(None, (_display(output, alt, filters) for output in group))


def _display(output: Mapping[str, Any], alt: str, filters: Mapping[str, str] | None) -> Markup | None:
    """The richest form of an output that a still page can show; widgets (progress bars) are skipped."""
    data = output["data"]
    if _WIDGET in data:
        return None
    if "text/html" in data:
        table = clean_html(data["text/html"])
        if filters is not None:
            table = _linked_cells(table, output.get("metadata", {}).get("sentences"), filters)
        return Markup('<div class="rich">{}</div>').format(Markup(table))
    if picture := _picture(data):
        alt = str(output.get("metadata", {}).get("alt") or alt)
        marks = _linked_marks(data.get("image/svg+xml", ""), filters) if filters is not None else ""
        picture = Markup('<img alt="{}" src="{}">').format(alt, picture)
        return Markup('<figure class="picture"><span class="map">{}{}</span></figure>').format(picture, marks)
    if "text/markdown" in data:
        return _markdown(data["text/markdown"])
    return _PRINTED.format(_printed(data["text/plain"])) if "text/plain" in data else None


# ----------------------------------------------------------------------------
# From tables and figures to their sentences.


def _address(*filters: Mapping[str, str]) -> str:
    joined = {str(key): str(value) for each in filters for key, value in each.items()}
    return f"../sentences.html#{urlencode(joined)}"


def _linked_cells(html: str, of: Any, filters: Mapping[str, str]) -> str:
    """A cleaned table whose numbers and sentences are links. of: what its cells are of, by its output's metadata."""
    if not isinstance(of, Mapping):
        return html
    html = _linked_texts(html, of.get("texts"), filters)
    try:
        rows, columns, across = of["rows"], of["columns"], of["across"]
    except KeyError:
        return html

    def linked(match: re.Match[str]) -> str:
        start, text, end = match[1], match[4], match[5]
        row, column = int(match[2]), int(match[3])
        if row >= len(rows) or column >= len(columns) or columns[column] in rows[row] or not re.search(r"\d", text):
            return match[0]
        name = "column" if not across or columns[column] == "n" else across
        return f'{start}<a href="{escape(_address(filters, rows[row], {name: columns[column]}))}">{text}</a>{end}'

    return _CELL.sub(linked, html) if all(isinstance(row, dict) for row in rows) else html


def _linked_texts(html: str, of: Any, filters: Mapping[str, str]) -> str:
    """A table of sentences with a link behind each. of: `nbkit.figures.links.text_filters`."""
    try:
        place, phrases = int(of["column"]), list(map(str, of["phrases"]))
    except (KeyError, TypeError, ValueError):
        return html

    def linked(match: re.Match[str]) -> str:
        row, column = int(match[2]), int(match[3])
        if column != place or row >= len(phrases) or len(phrases[row]) < _PHRASE:
            return match[0]
        address = escape(_address(filters, {"text": f'"{phrases[row]}"'}))
        return f'{match[1]}{match[4]} <a href="{address}" title="{_THIS}" aria-label="{_THIS}">↗</a>{match[5]}'

    return _TEXT_CELL.sub(linked, html)


def _linked_marks(svg: str, filters: Mapping[str, str]) -> Markup:
    """What lies over a picture: a link on each mark and bar of *svg* that has one, "" where none has.

    Nothing of the picture itself is taken over but numbers and the filters of the links.
    """
    size = _SIZE.search(svg)
    found = []
    for match in _LINK.finditer(svg) if size else ():
        own = dict(parse_qsl(unescape(match["filters"])))
        circle, path = Markup('<circle cx="{}" cy="{}" r="5"/>'), Markup('<path d="{}"/>')
        shapes = [circle.format(x, y) for x, y in _MARK_SHAPE.findall(match["inside"])]
        shapes += [path.format(" ".join(outline.split())) for outline in _BAR_SHAPE.findall(match["inside"])]
        if shapes:
            title = "Sentences: " + ", ".join(own.values())
            shape = Markup("").join(shapes)
            found.append(Markup('<a href="{}"><title>{}</title>{}</a>').format(_address(filters, own), title, shape))
    if not found or not size:
        return Markup("")
    drawn = Markup("").join(found)
    return Markup('<svg class="links" viewBox="0 0 {} {}" role="group">{}</svg>').format(size[1], size[2], drawn)


def _picture(data: Mapping[str, str]) -> str:
    if "image/svg+xml" in data:
        return svg_uri(data["image/svg+xml"])
    mime = next((mime for mime in ("image/png", "image/jpeg", "image/gif") if mime in data), None)
    return f"data:{mime};base64,{re.sub(r'[^A-Za-z0-9+/=]', '', data[mime])}" if mime else ""


def _error_line(output: Mapping[str, Any]) -> str:
    """The last line of an error: ``NbkitError: no parser for 'ja'``."""
    lines = _ANSI.sub("", f"{output.get('ename', 'Error')}: {output.get('evalue', '')}").strip().splitlines()
    return lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"


def _printed(text: str) -> str:
    """*text* as it ends up on a terminal: without colours, progress bars in their last state."""
    lines = (line.rstrip("\r").rpartition("\r")[2].rstrip() for line in _ANSI.sub("", text).split("\n"))
    return "\n".join(lines).strip("\n")


def _joined(text: Any) -> Any:
    return "".join(map(str, text)) if isinstance(text, list) else text


def _first_heading(source: str) -> str:
    match = re.search(r"^#{1,6} +(.+?) *#*$", source, re.MULTILINE)
    return _plain(match[1]) if match else ""


def _first_paragraph(source: str) -> str:
    paragraphs = re.split(r"\n\s*\n", re.sub(r"^#.*$", "", source, flags=re.MULTILINE))
    return next((_plain(p) for p in paragraphs if p.strip() and p.strip()[0] not in "|>-<!"), "")


def _plain(markdown: str) -> str:
    """*markdown* without its marks, for a title or an excerpt."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"[*`]|\b_|_\b", "", text).split())


def _markdown(source: str) -> Markup:
    clean = clean_html(str(_TO_HTML(source)))
    html = _TEX.sub(lambda match: mathml(unescape(match[2]), block=match[1] == "pre"), clean)
    return Markup('<div class="prose">{}</div>').format(Markup(html))


def mathml(tex: str, *, block: bool = False) -> str:
    """A formula as MathML, which browsers draw without a network; one that cannot be read is shown as it is written.

    >>> mathml("x_1")
    '<math display="inline"><mrow><msub><mi>x</mi><mn>1</mn></msub></mrow></math>'
    >>> mathml(r"\\left( x")
    '<code>\\\\left( x</code>'
    >>> mathml("t'")
    '<math display="inline"><mrow><mrow><mi>t</mi><mi>′</mi></mrow></mrow></math>'
    """
    from latex2mathml.converter import convert_to_element  # only pages with formulas need it

    try:
        root = convert_to_element(tex, display="block" if block else "inline")
    except Exception:  # noqa: BLE001 - its errors have no common class, and some are IndexError
        return str(Markup("<code>{}</code>").format(tex))
    return str(_clean_math(root))


def _clean_math(element: Any) -> Markup:
    """An element of MathML with what is in it, of known names only: TeX can ask for links and styles."""
    inner = Markup("").join(
        [
            escape(unescape(element.text or "")),
            *(_clean_math(child) + escape(unescape(child.tail or "")) for child in element),
        ]
    )
    if element.tag not in _ALLOWED["math_tags"]:
        return inner
    # The sign of a prime is raised by itself; as a superscript it would float above the line.
    raised = element.tag == "msup" and not unescape("".join(element[1].itertext())).strip("′")
    tag = "mrow" if raised else element.tag
    kept = {name: value for name, value in element.attrib.items() if name in _ALLOWED["math_attributes"]}
    attributes = Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in kept.items())
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), attributes, inner)
