"""Many texts to token ids and back: what transformers' tokenizers give, without what these do for each text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

#: SentencePiece's sign for a space.
_SPACE = "▁"
#: What Hugging Face's tokenizers take for no in ``TOKENIZERS_PARALLELISM``.
_NO = frozenset({"", "off", "false", "f", "no", "n", "0"})
#: Stands for a text among the special tokens that are put around it.
_HERE = -1


def has_bulk(tokenizer: Any) -> bool:
    """Whether *tokenizer* does no more to a text than the Rust tokenizer in it: slow ones, and a few others, do."""
    from transformers import TokenizersBackend

    kind = type(tokenizer)
    return isinstance(tokenizer, TokenizersBackend) and all(
        getattr(kind, name) is getattr(TokenizersBackend, name) for name in ("__call__", "_encode_plus")
    )


def bulk_encoded(tokenizer: Any, items: Sequence[Any], *, specials: bool = True) -> Sequence[Any]:
    """What the tokenizer makes of each text or pair of texts, whole and without padding: ``ids`` and ``type_ids``.

    specials: whether special tokens are put around it. Marks such as ``</s>`` that stand in a text are text like any
    other. Offsets are not kept. For a *tokenizer* that `has_bulk` is true of.
    """
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = True
    return backend.encode_batch_fast(list(items), add_special_tokens=specials)


class BulkPieces:
    """Texts to ids and back as Marian's and M2M-100's tokenizers do it, which are Python around SentencePiece.

    SentencePiece gets many texts at a time, and which id a piece has is asked once. A text that holds a mark of the
    vocabulary (``</s>``, ``>>de<<``, ``__de__``) goes the tokenizer's own way. With ``TOKENIZERS_PARALLELISM=false``,
    which the workers of a grid on CPUs have, one thread does it.
    """

    def __init__(self, tokenizer: Any):
        self._tokenizer = tokenizer
        self._pieces = getattr(tokenizer, "spm_source", None) or tokenizer.sp_model
        self._ids: dict[str, int] = _Asked(tokenizer.convert_tokens_to_ids)
        self._names: dict[int, str] = _Asked(tokenizer.convert_ids_to_tokens)
        marks = [">>", *tokenizer.added_tokens_encoder]
        begins = "".join(re.escape(mark[0]) for mark in marks)  # of a hundred languages' marks, a look at one character
        self._odd = re.compile(f"(?=[{begins}])(?:{'|'.join(map(re.escape, marks))})")
        self._special_ids = frozenset(tokenizer.all_special_ids)
        self._special_names = frozenset(tokenizer.all_special_tokens)
        self._threads = 1 if os.environ.get("TOKENIZERS_PARALLELISM", "on").lower() in _NO else -1

    @staticmethod
    def fits(tokenizer: Any) -> bool:
        """Whether *tokenizer* is one of these, with one vocabulary for both languages."""
        from transformers import M2M100Tokenizer, MarianTokenizer

        known = type(tokenizer) in (M2M100Tokenizer, MarianTokenizer)
        return known and not getattr(tokenizer, "separate_vocabs", False)

    def encoded(self, texts: Sequence[str], mark: str = "") -> list[list[int]]:
        """The ids of each source text, those that its language puts around it included; whole.

        mark: what stands before each text, with a space between, where a Marian model has several target languages.
        """
        frame = self._tokenizer.build_inputs_with_special_tokens([_HERE])
        before, after = frame[: frame.index(_HERE)], frame[frame.index(_HERE) + 1 :]
        odd = [bool(self._odd.search(text)) for text in texts]
        rest = [text for text, is_odd in zip(texts, odd, strict=True) if not is_odd]
        if mark:
            before, rest = [*before, self._ids[mark]], [f" {text}" for text in rest]
            texts = [f"{mark} {text}" for text in texts]
        pieces = iter(self._pieces.encode(rest, out_type=str, num_threads=self._threads))
        return [
            self._tokenizer(text, truncation=False, verbose=False)["input_ids"]
            if is_odd
            else [*before, *map(self._ids.__getitem__, next(pieces)), *after]
            for text, is_odd in zip(texts, odd, strict=True)
        ]

    def decoded(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """The text of each row of ids, special tokens left out and without space around it."""
        named = [[self._names[number] for number in row if number not in self._special_ids] for row in rows]
        odd = [not self._special_names.isdisjoint(row) for row in named]
        rest = [row for row, is_odd in zip(named, odd, strict=True) if row and not is_odd]
        texts = iter(self._pieces.decode(rest, num_threads=self._threads) if rest else ())
        found = []
        for ids, row, is_odd in zip(rows, named, odd, strict=True):
            if is_odd:
                found.append(self._tokenizer.decode(list(ids), skip_special_tokens=True).strip())
                continue
            text = next(texts).replace(_SPACE, " ").strip() if row else ""
            clean = self._tokenizer.clean_up_tokenization_spaces
            found.append(self._tokenizer.clean_up_tokenization(text).strip() if clean else text)
        return found


class _Asked(dict):
    """What a function gives for a key, asked once."""

    def __init__(self, ask: Callable[[Any], Any]):
        self._ask = ask

    def __missing__(self, key: Any) -> Any:
        self[key] = found = self._ask(key)
        return found
