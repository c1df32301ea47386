"""A finished run, made once: notebooks really executed, with hostile corpus text in every kind of output."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pytest

SENTENCE = "Der <script>window.ran = 1</script> Hund & das <b>Vogelhaus</b> <img src=x onerror='window.ran=2'>"
TAG = "m2m<script>window.ran = 3</script>"
_READ = """
from pathlib import Path

sentence = Path("corpus.txt").read_text()
"""
_FIGURE = """
import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import HTML, display
from matplotlib_inline.backend_inline import set_matplotlib_formats

set_matplotlib_formats("svg")
figure, axes = plt.subplots(figsize=(8, 3.4))
for model, colour in (("opus-mt", "#0072B2"), ("m2m100-418m", "#E69F00")):
    heights = [(i * 7 % 11) / 11 + (model == "opus-mt") / 5 for i in range(16)]
    axes.plot(range(16), heights, "o-", color=colour, label=model)
axes.set(xlabel="perturbation", ylabel="β1 − β2 (BLEU-4)")
axes.legend(frameon=False)
display(figure)
plt.close(figure)
"""
_TABLE = """
table = pd.DataFrame({
    "perturbation": ["word_shuffle", "reversed", "noun_swaps", "verb_swaps"],
    "N": [1000, 998, 87, 412], "β1": [0.31, 0.052, 0.44, 0.61], "β2": [0.12, 0.2, 0.09, 0.33],
})
table.style.format(precision=3).highlight_max(subset=["β1"], props="font-weight: bold").hide()
"""
_RAW_TABLE = """
display(HTML(f"<table><thead><tr><th>s</th></tr></thead><tr><td>{sentence}</td></tr></table>"))
"""
_PICTURE_OF_TEXT = """
figure, axes = plt.subplots(figsize=(4, 1))
axes.set_title("das " + sentence.split("<b>")[1].split("</b>")[0])
display(figure)
plt.close(figure)
"""
_FOOTER = """
from nbkit.provenance import footer

footer({"seed": 3, "beams": 4}, metrics={"bleu": "<i>nrefs:1</i>"})
"""
_NOISE = """
import sys, warnings
for i in range(4):
    print(f"\\r{i}/3 [?, 9 it/s]", end="", file=sys.stderr)
warnings.warn("a warning")
"""


def _execute(cells: list, path: Path, corpus: Path) -> None:
    import nbclient
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=cells)
    with contextlib.suppress(nbclient.exceptions.CellExecutionError):
        nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(corpus)}}).execute()
    nbformat.write(notebook, path)


def _record(folder: Path, label: str, **record) -> None:
    record = {"status": "done", "seconds": 12.5, **record}
    (folder / "cells" / f"{label}.json").write_text(json.dumps(record))


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory) -> Path:
    """The output folder of a run: a summary, four cells of a grid, and one cell that failed."""
    from nbformat.v4 import new_code_cell, new_markdown_cell

    folder = tmp_path_factory.mktemp("outputs") / "demo"
    for room in ("notebooks", "cells"):
        (folder / room).mkdir(parents=True)
    grid = {"study": "word_order", "params": {"corpus": "sandbox", "languages": ["de", "ja"], "seed": 0}}
    provenance = {"nbkit": "0.1.0", "commit": "0123abc"}
    record = {"name": "demo", "title": "A tour of nbkit", "runs": [grid], "provenance": provenance}
    record |= {"status": "failed", "failures": [{"label": "translate ja", "error": f"ModelError: {SENTENCE}"}]}
    (folder / "run.json").write_text(json.dumps(record))

    corpus = tmp_path_factory.mktemp("corpus")
    (corpus / "corpus.txt").write_text(SENTENCE)
    shows_text = {"tags": ["corpus-text"]}
    cells = [
        new_markdown_cell(f"# Robust or faithful?\n\nDo models *repair* what was perturbed? {SENTENCE[:40]}"),
        new_code_cell("language = 'de'", metadata={"tags": ["parameters"]}),
        new_code_cell(_FIGURE),
        new_code_cell(_TABLE),
        new_code_cell(_READ),
        new_code_cell("print(sentence)", metadata=shows_text),
        new_code_cell(_RAW_TABLE, metadata=shows_text),
        new_code_cell("pd.DataFrame({'sentence': [sentence] * 3}).style", metadata=shows_text),
        new_code_cell(_PICTURE_OF_TEXT, metadata=shows_text),
        new_code_cell(_NOISE),
        new_code_cell(_FOOTER),
    ]
    summary = folder / "notebooks" / "word_order-summary.ipynb"
    _execute(cells, summary, corpus)
    _record(folder, summary.stem, title="Robust or faithful?", scope="grid", tags={"study": "word_order"})
    for language in ("de", "ja"):
        for model in ("opus-mt", TAG):
            label = f"word_order-robustness-{language}-{model.partition('<')[0]}"
            shutil.copy(summary, folder / "notebooks" / f"{label}.ipynb")
            tags = {"study": "word_order", "language": language, "model": model}
            parameters = {"corpus": "sandbox", "languages": [language], "models": [model]}
            _record(folder, label, title="Robust or faithful?", tags=tags, parameters=parameters)

    failed = folder / "notebooks" / "word_order-lengths-ja-opus-mt.ipynb"
    _execute(
        [
            new_markdown_cell("# Do long sentences fare worse?"),
            new_code_cell(_READ + "raise ValueError(f'no tree for {sentence}')"),
            new_code_cell("1 + 1"),
        ],
        failed,
        corpus,
    )
    tags = {"study": "word_order", "language": "ja", "model": "opus-mt"}
    _record(folder, failed.stem, title="Do long sentences fare worse?", status="failed", seconds=2.25, tags=tags)
    for room in ("tables", "figures"):
        (folder / room / summary.stem).mkdir(parents=True)
    (folder / "tables" / summary.stem / "scores.csv").write_text("a,b\n1,2\n")
    (folder / "tables" / summary.stem / "flips.texts.csv").write_text(SENTENCE)
    (folder / "tables" / summary.stem / "notes.py").write_text("print(1)")
    (folder / "figures" / summary.stem / "fig1.pdf").write_bytes(b"%PDF-1.4")
    return folder
