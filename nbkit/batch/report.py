"""The report of a run: one static site that opens offline, and the archive of it for an e-mail.

Each page is self-contained: pictures are ``data:`` addresses, style and script stand in the page, and a
content security policy forbids the browser everything else. A page is made anew only where its
notebook, its record, its neighbours or the templates changed.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbkit.batch.report_folder import FACETS, Entry, Run, read_run
from nbkit.languages import in_order
from nbkit.provenance import Footer

_SUFFIXES = frozenset({".svg", ".pdf", ".png", ".csv", ".tsv", ".tex", ".parquet"})
_DIGEST = re.compile(rb'<meta name="nbkit-digest" content="(\w+)">')
_THUMBNAIL_BYTES = 300_000
Reader = Callable[[Path], dict[str, Any]]


def build(output_folder: Path) -> Path:
    """Write ``index.html`` and ``html/<notebook>.html`` of the run in *output_folder*; the index' path.

    Raises `NbkitError` where the folder is not the output of a run.
    """
    from nbkit.batch.report_notebook import read_notebook

    run = read_run(Path(output_folder))
    pages = run.folder / "html"
    pages.mkdir(exist_ok=True)
    for leftover in {path.name for path in pages.glob("*.html")} - {entry.file for entry in run.entries}:
        if _recorded_digest(pages / leftover):  # a page of ours whose notebook is gone
            (pages / leftover).unlink()
    for entry, before, after in _with_neighbours(run.entries):
        page = pages / entry.file
        digest = _page_digest(run, entry, before, after)
        if _recorded_digest(page) != digest:
            _write(page, _notebook_page(run, entry, before, after, read_notebook, digest).encode())
    index = run.folder / "index.html"
    _write(index, _index_page(run, read_notebook, _files(run.folder)).encode())
    return index


def archive(output_folder: Path) -> Path:
    """The whole site with its figures and tables as one zip beside the folder; its path."""
    index = build(output_folder)
    run = read_run(Path(output_folder))
    members = {path: (run.folder / path).read_bytes() for path in _files(run.folder)}
    members |= {f"html/{e.file}": (run.folder / "html" / e.file).read_bytes() for e in run.entries}
    return _zipped(run, "", {"index.html": index.read_bytes(), **members})


def archive_without_text(output_folder: Path) -> Path:
    """The archive without the sentences of the corpus, for data that may not be passed on; its path.

    Left out: outputs of cells tagged ``corpus-text``, whatever was printed, the messages of errors, and
    files under ``figures/`` and ``tables/`` whose name ends in ``.texts`` before the suffix.
    """
    from nbkit.batch.report_notebook import leave_out_text, read_notebook

    def read(path: Path) -> dict[str, Any]:
        return leave_out_text(read_notebook(path))

    run = read_run(Path(output_folder))
    files = [path for path in _files(run.folder) if ".texts." not in Path(path).name]
    members = {"index.html": _index_page(run, read, files).encode()}
    for entry, before, after in _with_neighbours(run.entries):
        members[f"html/{entry.file}"] = _notebook_page(run, entry, before, after, read, "").encode()
    return _zipped(run, "-no-text", members | {path: (run.folder / path).read_bytes() for path in files})


def _notebook_page(run: Run, entry: Entry, before: Entry | None, after: Entry | None, read: Reader, digest: str) -> str:
    from nbkit.batch.report_notebook import blocks, excerpt, has_provenance
    from nbkit.batch.report_templates import render

    notebook = read(entry.notebook)
    found = blocks(notebook)
    return render(
        "notebook.html.j2",
        run=run,
        entry=entry,
        before=before,
        after=after,
        excerpt=excerpt(notebook),
        blocks=found,
        provenance="" if has_provenance(found) else _provenance(run, entry),
        digest=digest,
    )


def _index_page(run: Run, read: Reader, files: Sequence[str]) -> str:
    from nbkit.batch.report_notebook import excerpt
    from nbkit.batch.report_templates import render

    listed = [(entry, excerpt(read(entry.notebook))) for entry in run.entries]
    runs = [entry for entry in run.entries if not entry.is_summary]
    values = _facet_values(runs)
    return render(
        "index.html.j2",
        run=run,
        failures=[(entry, glance) for entry, glance in listed if entry.failed],
        summaries=[(entry, glance) for entry, glance in listed if entry.is_summary],
        runs=runs,
        facets=[facet for facet in values if facet != "status"],
        choices={facet: found for facet, found in values.items() if len(found) > 1},
        files=files,
        largest_figure=_THUMBNAIL_BYTES,
        provenance=_provenance(run),
        digest="",
    )


def _facet_values(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Every facet that some entry has, with its values: languages in the papers' order, the rest as they come."""
    found: dict[str, dict[str, None]] = {}
    for entry in entries:
        for facet, value in entry.facets.items():
            found.setdefault(facet, {})[value] = None
    rank = {facet: i for i, facet in enumerate(FACETS)}
    names = sorted(found, key=lambda facet: (facet == "status", rank.get(facet, len(rank))))
    return {name: in_order(found[name]) if name == "language" else list(found[name]) for name in names}


def _provenance(run: Run, entry: Entry | None = None) -> str:
    facts: Mapping[str, Any] = run.provenance
    if entry:
        facts = {**facts, **entry.provenance, "parameters": entry.parameters}
    return Footer(facts)._repr_html_() if facts else ""


def _with_neighbours(entries: Sequence[Entry]) -> Iterator[tuple[Entry, Entry | None, Entry | None]]:
    around = [None, *entries, None]
    yield from zip(entries, around, around[2:], strict=False)


def _page_digest(run: Run, entry: Entry, before: Entry | None, after: Entry | None) -> str:
    """Stands for everything that a page is made of."""
    from nbkit.batch.report_templates import source_digest

    digest = hashlib.blake2b(digest_size=16)
    names = [(other.file, other.name) if other else None for other in (before, after)]
    for part in (source_digest(), repr((run.title, run.is_sandbox, names)).encode(), entry.record.encode()):
        digest.update(hashlib.blake2b(part).digest())
    digest.update(entry.notebook.read_bytes())
    return digest.hexdigest()


def _recorded_digest(page: Path) -> str | None:
    """The digest that *page* was made with; it stands in the first lines."""
    if not page.is_file():
        return None
    with page.open("rb") as stream:
        match = _DIGEST.search(stream.read(500))
    return match[1].decode() if match else None


def _files(folder: Path) -> list[str]:
    """Figures and tables of the run, as paths inside it; links that lead out of it are left out."""
    root = folder.resolve()
    found = [path for room in ("figures", "tables") for path in sorted((folder / room).rglob("*"))]
    return [
        path.relative_to(folder).as_posix()
        for path in found
        if path.suffix in _SUFFIXES and path.is_file() and path.resolve().is_relative_to(root)
    ]


def _zipped(run: Run, suffix: str, members: Mapping[str, bytes]) -> Path:
    """The members as ``<folder><suffix>.zip`` beside the folder, all under one folder of its name."""
    folder = run.folder.resolve()
    path = folder.with_name(f"{folder.name}{suffix}.zip")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, member in members.items():
            bundle.writestr(f"{folder.name}/{name}", member)
    _write(path, content.getvalue())
    return path


def _write(path: Path, content: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_bytes(content)
    partial.replace(path)
