"""Translators: what each of them offers, and how one is loaded by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from nbkit.models import weights
from nbkit.models.backends import TRANSFORMERS
from nbkit.models.decoding import DEFAULT, Decoding
from nbkit.models.integrity import check_bytes
from nbkit.models.python import PythonTranslator
from nbkit.models.translators.catalogue import BY_RULE, resolve
from nbkit.models.translators.identity import check_remote, offered, resolve_device, resolve_dtype
from nbkit.models.translators.languages import check_pair
from nbkit.models.translators.local import ensure_model


class Translator(Protocol):
    """What every backend offers. name: stands for it in tables and keys.

    >>> class Copy:  # a baseline that leaves every text as it is
    ...     name = "copy"
    ...     def translate(self, texts, src, tgt, decoding=DEFAULT, *, progress=True):
    ...         return [text.strip() for text in texts]
    ...     def score(self, texts, references, src, tgt):
    ...         return [0.0 if text == reference else float("-inf") for text, reference in zip(texts, references)]
    >>> translator: Translator = Copy()
    >>> translator.translate(["Tom sleeps .", " "], "en", "de"), translator.score(["Tom"], ["Thomas"], "en", "de")
    (['Tom sleeps .', ''], [-inf])
    """

    name: str

    def translate(
        self, texts: Sequence[str], src: str, tgt: str, decoding: Decoding = DEFAULT, *, progress: bool = True
    ) -> list[str]:
        """The best hypothesis that the search finds for every text, in order: one a text.

        y* = argmax_y log p(y | x) / |y|^λ

        decoding: beams, limits and the length penalty λ of the search. progress: whether a bar is shown.
        A blank text gives an empty hypothesis. A hypothesis depends on its own text alone, not on its batch.

        Raises `ModelError` for a language that the model does not speak.
        Source: Wu et al. 2016, §7 (beam search with a length penalty), in the form that transformers gives it.
        """
        ...

    def score(self, texts: Sequence[str], references: Sequence[str], src: str, tgt: str) -> list[float]:
        """How likely the model finds each reference, given its text: natural logarithms a token, at most 0.

        score(y | x) = 1/|y| · Σ_t log p(y_t | y_<t, x)

        Raises `ModelError` where texts and references are not of the same number, or for an unknown language.
        Source: Sennrich 2017, "How Grammatical is Character-level Neural Machine Translation?" (contrastive scoring).
        """
        ...


def load_translator(name: str, src: str, tgt: str, *, device: str = "auto", dtype: str = "auto") -> Translator:
    """The translator of that name for the pair, on the device; downloaded or trained first where it must be.

    name: a catalogue name, a hub id (``id@revision`` pins it) or a folder; ``{src}`` and ``{tgt}`` are filled in. With
    ``placeholder:`` before it, its numbers are carried over by rule; with ``@ct2`` or ``@ct2-int8`` after it,
    CTranslate2 runs it.
    device: ``auto`` (CUDA where there is one), ``cpu``, ``cuda``, ``cuda:1``. dtype: ``auto`` (bfloat16 on CUDA,
    float32 on the CPU) or a torch dtype's name. Neither means anything to a model behind a service
    (``openai:MODEL``, ``deep-translator:SERVICE``), which is asked for the pair here and nothing is loaded.

    Raises `UnknownNameError` for a name that nothing is known by, and `ModelError` for weights that cannot be had, a
    device that is not there, an unknown architecture, or a language that the model does not speak, and
    `MissingExtraError` for a backend that is not installed.
    """
    if name.startswith(BY_RULE):
        from nbkit.models.translators.placeholder import PlaceholderTranslator

        inner = load_translator(name.removeprefix(BY_RULE), src, tgt, device=device, dtype=dtype)
        return PlaceholderTranslator(inner, name)
    reference = resolve(name, src, tgt)
    if reference.remote is not None:
        service = reference.remote.translator()
        check_remote(reference)
        return service
    if reference.entry.python is not None:
        check_remote(reference)
        return PythonTranslator(reference.entry.python, offered(device, dtype, src=src, tgt=tgt))
    folder = ensure_model(name, src, tgt)
    assert folder is not None  # only models behind a service and Python code have none
    check_bytes(folder, f"model '{reference.name}'", weights=reference.backend == TRANSFORMERS)
    family = weights.family(reference, folder)
    check_pair(reference, family, folder)
    place = resolve_device(device)
    if reference.backend != TRANSFORMERS:
        from nbkit.models.ct2.engines import CTranslate2Translator

        return CTranslate2Translator(reference, family, folder, place, resolve_dtype(dtype, place))
    from nbkit.models.translators.seq2seq import Seq2SeqTranslator

    return Seq2SeqTranslator(reference, family, folder, place, resolve_dtype(dtype, place))
