"""The settings of beam search, which are part of every result's store key."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from nbkit.errors import ParamsError

#: Upper bounds, beyond what any search can use.
MOST_BEAMS, MOST_NEW_TOKENS, MOST_PENALTY = 1000, 10_000, 10

_STEP = 16


@dataclass(frozen=True)
class Decoding:
    """Settings of beam search; 1 beam is greedy search. nbkit never samples.

    Parameters
    ----------
    beams : int
        Number of hypotheses that survive each step, 1 to 1,000.
    max_new_tokens : int or None
        Maximum length of a hypothesis in the model's tokens, 1 to 10,000; None derives it from the source (`limit`).
    length_penalty : float
        Exponent λ of the hypothesis length in log p(y | x) / |y|^λ, from -10 to 10.
    early_stopping : bool
        True ends the search once *beams* hypotheses are finished; False continues until no running hypothesis is
        likely to become better (the meaning that transformers gives it).

    Raises
    ------
    ParamsError
        A value is out of range.

    Notes
    -----
    These settings override a checkpoint's beams, length and penalty, so that all models of a grid are decoded alike.
    What a checkpoint forbids or forces (``bad_words_ids``, forced first and last tokens) remains in force.

    Examples
    --------
    >>> Decoding(beams=1).identity()
    {'beams': 1, 'max_new_tokens': 'source', 'length_penalty': 1.0, 'early_stopping': False}
    """

    beams: int = 4
    max_new_tokens: int | None = None
    length_penalty: float = 1.0
    early_stopping: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.beams <= MOST_BEAMS:
            raise ParamsError(f"beams: {self.beams} given, 1 to {MOST_BEAMS:,} expected")
        if self.max_new_tokens is not None and not 1 <= self.max_new_tokens <= MOST_NEW_TOKENS:
            raise ParamsError(
                f"max_new_tokens: {self.max_new_tokens} given, 1 to {MOST_NEW_TOKENS:,} expected, or none"
            )
        if not -MOST_PENALTY <= self.length_penalty <= MOST_PENALTY:  # neither is nan
            given = f"length_penalty: {self.length_penalty:g} given"
            raise ParamsError(f"{given}, a number from -{MOST_PENALTY} to {MOST_PENALTY} expected")

    def limit(self, source_tokens: int) -> int:
        """The maximum hypothesis length for a source of that many tokens: twice the rounded source length plus 32.

        The source length is rounded up to a multiple of 16, so that texts of similar length share a
        batch and a hypothesis does not depend on the rest of its batch.

        >>> Decoding().limit(7), Decoding().limit(16), Decoding().limit(17), Decoding(max_new_tokens=20).limit(17)
        (64, 64, 96, 20)
        """
        if self.max_new_tokens is not None:
            return self.max_new_tokens
        return 2 * _STEP * -(-source_tokens // _STEP) + 32

    def identity(self) -> dict[str, Any]:
        """These settings as part of a store key."""
        return asdict(self) | {"max_new_tokens": self.max_new_tokens or "source"}


#: The settings of a run that does not specify any.
DEFAULT = Decoding()
