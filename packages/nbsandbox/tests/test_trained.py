"""The trained models of the package: whole folders, small, in half precision, each with its card."""

from __future__ import annotations

import json
import struct

import pytest

from nbsandbox.trained import model_folder, shipped_folder

FOLDERS = sorted(shipped_folder().iterdir())


def test_names():
    assert model_folder("sandbox", "en", "de") == model_folder("sandbox", "ja", "en") == shipped_folder() / "sandbox"
    assert model_folder("sandbox-wsd-marian#2", "en", "de").name == "sandbox-wsd-marian-seed-2-en-de"
    assert model_folder("sandbox-wsd-marian#3", "en", "de") is None
    for name in ("zero", "tuned-upsample-20", "mask-joint", "replace-enc-joint"):
        assert model_folder(f"sandbox-idioms-{name}", "en", "fr") is not None
    assert model_folder("sandbox-convnet", "de") is None and model_folder("../models/sandbox") is None


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_is_whole_and_in_half_precision(folder):
    names = {file.name for file in folder.iterdir()}
    assert {"README.md", "config.json", "model.safetensors", "nbkit.digests", "nbkit.json"} <= names
    assert "seed" in json.loads((folder / "nbkit.json").read_text())["recipe"]
    with (folder / "model.safetensors").open("rb") as weights:
        header = json.loads(weights.read(struct.unpack("<Q", weights.read(8))[0]))
    types = {tensor["dtype"] for name, tensor in header.items() if name != "__metadata__"}
    assert "F16" in types and types <= {"F16", "I64"}


def test_sizes():
    sizes = {folder.name: sum(file.stat().st_size for file in folder.iterdir()) for folder in FOLDERS}
    assert max(sizes.values()) <= 6e6 and sum(sizes.values()) <= 32e6, sizes
