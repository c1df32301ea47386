"""The working folder that every command line finds: something of each kind of file, good ones and strange ones."""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from nbkit.batch.params import parse

GRID = {
    "name": "grid",
    "title": "Small",
    "runs": [
        {
            "study": "word_order",
            "params": {
                "corpus": "sandbox",
                "languages": ["de"],
                "models": ["model"],
                "n_pairs": 3,
                "metrics": ["bleu"],
            },
            "notebooks": ["flips"],
        },
        {"study": "numbers", "params": {"languages": ["de"], "models": ["model"], "n_numbers": 1, "n_templates": 1}},
        {"study": "idioms", "params": {"languages": ["de"], "models": {"a": "model"}, "n_test": 5, "n_generic": 5}},
    ],
}
CELL = {
    "label": "word_order.de.model.flips",
    "status": "done",
    "key": "0123",
    "run": "word_order",
    "study": "word_order",
    "notebook": "word_order/flips",
    "title": "Flips",
    "scope": "cell",
    "tags": {"study": "word_order", "language": "de", "model": "model"},
    "parameters": {"corpus": "sandbox", "languages": ["de"], "models": ["model"]},
    "started": "2020-01-01T00:00:00+00:00",
    "seconds": 1.5,
    "error": None,
    "files": ["tables/word_order.de.model.flips/flips.csv"],
    "provenance": {"nbkit": "1", "commit": "0123abc", "versions": {"torch": "2"}, "wall_time": "1.5 s"},
}
RUN = {
    "name": "grid",
    "owner": parse(yaml.safe_dump(GRID), "grid.yaml").owner,
    "title": "Small",
    "nbkit": "1",
    "started": "2020-01-01T00:00:00+00:00",
    "runs": [{"name": "word_order", "study": "word_order", "params": GRID["runs"][0]["params"]}],
    "order": [CELL["label"]],
    "provenance": CELL["provenance"],
    "status": "failed",
    "seconds": 2.0,
    "failures": [{"label": "translate de", "error": "ModelError: none", "details": ""}],
    "incomplete": ["word_order"],
}
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# Flips\n", "\n", "Text"]},
        {
            "cell_type": "code",
            "id": "b",
            "metadata": {"tags": ["corpus-text"]},
            "execution_count": 1,
            "source": "x",
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["a\r", "b\n"]},
                {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<b>x</b>", "text/plain": "x"}},
                {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo=\n"}},
                {"output_type": "display_data", "metadata": {}, "data": {"image/svg+xml": "<svg width='9'/>"}},
                {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mE\x1b[0m: v"]},
            ],
        },
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
#: The parts of a run's folder, by their places in it.
RUN_FOLDER = {
    "run.json": RUN,
    f"cells/{CELL['label']}.json": CELL,
    f"notebooks/{CELL['label']}.ipynb": NOTEBOOK,
}
_TEXTS = {
    "text.en": "A cat sees 1,000 dogs .\n\nTom has 3.5 apples .\nThe old dog sleeps .\n",
    "text.de": "Eine Katze sieht 1.000 Hunde .\n\nTom hat 35 Äpfel .\nDer alte Hund schläft .\n",
}


def as_json(value: Any) -> bytes:
    """*value* as a damaged program may have written it: with NaN, and halves of surrogate pairs."""
    return json.dumps(value, default=str).encode()


def lay_out(folder: Path) -> None:
    """Fills *folder*. What is made by heavy libraries, a tiny model and a form, is made here once."""
    import pandas as pd
    from transformers import set_seed

    from nbkit.corpora.nli import LABELS
    from nbkit.measure.forms import make_form
    from tests.annotate.filling import fill
    from tests.models.conftest import save_marian

    set_seed(0)
    folder.mkdir(parents=True)
    for name, text in _TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    pairs = zip(*(text.splitlines() for text in _TEXTS.values()), strict=True)
    (folder / "text.tsv").write_text("".join(f"{en}\t{de}\n" for en, de in pairs if en), encoding="utf-8")
    (folder / "grid.yaml").write_text(yaml.safe_dump(GRID), encoding="utf-8")
    for place, value in RUN_FOLDER.items():
        path = folder / "run" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_json(value))
    table = folder / "run" / "tables" / CELL["label"] / "flips.csv"
    table.parent.mkdir(parents=True)
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    save_marian(folder / "model")
    rows = [{"premise": f"p{i}", "hypothesis": "h", "label": LABELS[i], "stratum": "x"} for i in range(3)]
    make_form(pd.DataFrame(rows), folder / "form.csv", labels=LABELS, instructions="Judge.")
    fill(folder / "form.csv", folder / "form.csv", lambda row: "neutral")
    # What is drawn is a file of these changed.
    shutil.copytree(folder / "run", folder / "drawn-run")
    shutil.copytree(folder / "model", folder / "drawn-model")
    shutil.copyfile(folder / "form.csv", folder / "drawn.csv")
    (folder / "empty").write_bytes(b"")
    (folder / "binary").write_bytes(bytes(range(256)) * 20)
    (folder / "unreadable").write_bytes(b"x")
    (folder / "folder").mkdir()


def add_special_files(folder: Path) -> None:
    """Links, devices and files without rights, which a copied folder would not have.

    Devices are links to them, or nodes of this folder where they may be made: a command may replace what it is told to
    write to.
    """
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere/at/all")
    for name, device in (("null", os.makedev(1, 3)), ("full", os.makedev(1, 7))):
        with suppress(OSError):
            os.mknod(folder / name, stat.S_IFCHR | 0o666, device)
        if not (folder / name).exists():
            (folder / name).symlink_to(f"/dev/{name}")
    (folder / "unreadable").chmod(0)


def write(path: Path, content: bytes | None) -> None:
    """Put *content* at *path*; None removes it."""
    if content is None:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
