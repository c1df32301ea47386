"""Which pairs a model speaks, by the catalogue, its own files and its family's codes, and which backends run it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from nbkit.errors import ModelError
from nbkit.languages import in_order
from nbkit.models.backends import TRANSFORMERS
from nbkit.models.translators.catalogue import Family, Origin, Reference
from nbkit.models.weights import RECORD_FILE, read_json, tokenizer_config

_THREE_LETTERS = {
    "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it", "rus": "ru",
    "zho": "zh", "chi": "zh", "cmn": "zh", "jpn": "ja", "jap": "ja", "tam": "ta", "nep": "ne", "npi": "ne",
}  # fmt: skip


def check_pair(reference: Reference, family: Family, folder: Path | None) -> None:
    """Raises `ModelError`, naming the languages there are, where the model does not speak the pair.

    folder: the model's files; None where they are not at hand, and the catalogue and the family alone are asked.
    """
    for side, lang, spoken in (
        ("from", reference.src, _spoken(reference, family, folder, "source")),
        ("to", reference.tgt, _spoken(reference, family, folder, "target")),
    ):
        unknown = spoken is not None and lang not in spoken
        if unknown or (family.codes and family.code(lang) is None):
            known = in_order(spoken if spoken is not None else family.codes)
            raise ModelError(
                f"model '{reference.name}' does not translate {side} '{lang}'; it translates {side}: {', '.join(known)}"
            )


def check_backend(reference: Reference, family: Family) -> None:
    """Raises `ModelError` where the backend of the model's name does not run its architecture."""
    if reference.backend != TRANSFORMERS and not family.converts:
        raise ModelError(
            f"model '{reference.full_name}': {reference.backend.package} has no conversion of its architecture "
            f"({family.name}); leave the backend out: '{reference.name}'"
        )


def check_architecture(what: str, reference: Origin, architecture: str | None, known: Sequence[str]) -> None:
    """The same for other models than translators: a backend runs transformers' architectures *known* alone.

    what: the kind of model. architecture: as ``config.json`` has it, None where that does not say.
    """
    if reference.backend != TRANSFORMERS and architecture not in known:
        raise ModelError(
            f"{what} '{reference.full_name}': {reference.backend.package} has no conversion of its architecture "
            f"({architecture or 'not stated'}), but of: {', '.join(known)}. "
            f"Leave the backend out, transformers runs it: '{reference.name}'"
        )


def _spoken(reference: Reference, family: Family, folder: Path | None, side: str) -> Iterable[str] | None:
    """The languages of one side as far as somebody says so; None: whatever the family has codes for."""
    named = reference.entry.sources if side == "source" else reference.entry.targets
    if named is not None or folder is None:
        return named
    pairs = folder / RECORD_FILE
    if pairs.is_file():
        return read_json(pairs)[f"{side}s"]
    if family.codes or reference.entry.family is not None:
        return None
    # A Marian checkpoint that nobody vouched for: its tokenizer knows the pair, in two or three letters. Names of
    # groups of languages ("ROMANCE") say nothing about a single one.
    own = tokenizer_config(folder).get(f"{side}_lang") or ""
    code = _THREE_LETTERS.get(own, own)
    return [code] if len(code) == 2 else None
