"""`Aligner`, and the aligners there are by name."""

from __future__ import annotations

import inspect
import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from nbkit.errors import MissingExtraError, ModelError, NbkitError, UnknownNameError, closest
from nbkit.measure.links import (
    SYMMETRISATIONS,
    Alignment,
    AlignmentScores,
    TokenPair,
    from_pharaoh,
    inverted,
    pairs_digest,
    read_pharaoh,
    score_alignments,
    symmetrise,
    target_of,
    to_pharaoh,
    token_pairs,
    write_pharaoh,
)
from nbkit.models.batching import run_batches
from nbkit.models.lifecycle import is_missing
from nbkit.models.pretrained import budget, load_network, network_identity, obstacle
from nbkit.progress import progress_bar
from nbkit.registry import Registry
from nbkit.store import Store

if TYPE_CHECKING:
    import pandas as pd
    from torch import Tensor

__all__ = [
    "ALIGNERS",
    "Aligner",
    "Alignment",
    "AlignmentScores",
    "SYMMETRISATIONS",
    "TokenPair",
    "check_aligner",
    "inverted",
    "load_aligner",
    "read_pharaoh",
    "score_alignments",
    "symmetrise",
    "target_of",
    "write_pharaoh",
]


@runtime_checkable
class Aligner(Protocol):
    """Links the words of texts and of their translations.

    An aligner that may be unusable here (a package, a file or weights not there) also has ``problem() -> str | None``,
    which says why without loading anything heavy.
    """

    @property
    def identity(self) -> dict[str, Any]:
        """The aligner's part of a cache key: JSON-able, different whenever its links may be. Costs no model load."""

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """The links of each pair of (source tokens, target tokens), in the order of *pairs*, sorted.

        A side without tokens has no links. Raises `NbkitError` where *pairs* hold texts instead of tokens, and what
        the aligner raises. Equal pairs get equal links; links do not depend on the order of the pairs. Those of a
        statistical aligner depend on all pairs together: give it a corpus at once, not by parts.
        """


#: Names to factories ``(src, tgt, argument, **options) -> Aligner``; *argument* is what a name holds after its
#: colon (None without one).
ALIGNERS: Registry[Callable[..., Aligner]] = Registry("aligner")


ALIGNERS.register("gold", "nbkit.measure.word_lists:GoldAligner", summary="the corpus's own links: pairs=")


ALIGNERS.register(
    "lexicon",
    "nbkit.measure.word_lists:LexiconAligner",
    summary="a word list: the sandbox's own, or lexicon:FILE (TSV)",
)


ALIGNERS.register(
    "eflomal", "nbkit.measure.aligners:EflomalAligner", summary="statistical, of the corpus itself or training="
)


ALIGNERS.register("pharaoh", "nbkit.measure.word_lists:PharaohAligner", summary="pharaoh:FILE, of any other aligner")


ALIGNERS.register(
    "embeddings", "nbkit.measure.aligners:EmbeddingAligner", summary="embeddings:MODEL, a multilingual encoder"
)


def load_aligner(name: str, src: str, tgt: str, **options: Any) -> Aligner:
    """The aligner called *name*, for texts in *src* and their translations into *tgt*.

    name: one of `ALIGNERS`, with what it works on after a colon: ``gold``, ``lexicon``, ``lexicon:words.tsv``,
    ``eflomal``, ``pharaoh:corpus.align``, ``embeddings:google-bert/bert-base-multilingual-cased``.
    options: of the aligner; ``store=`` (a `nbkit.store.Store`) has eflomal and embeddings remember their links.

    Raises `UnknownNameError` for a name, `NbkitError` for an option or an argument that is not known or missing.

    >>> load_aligner("pharaoh", "en", "de")
    Traceback (most recent call last):
    nbkit.errors.NbkitError: aligner 'pharaoh': which file? Write pharaoh:FILE
    >>> load_aligner("lexicon", "en", "de", colour="red")
    Traceback (most recent call last):
    nbkit.errors.NbkitError: aligner 'lexicon': unknown option 'colour'. There are: entries, pairs, threshold
    """
    head, colon, argument = name.partition(":")
    factory = ALIGNERS.get(head)
    known = list(inspect.signature(factory).parameters.values())[3:]
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known):
        names = sorted(parameter.name for parameter in known)
        for option in options:
            if option not in names:
                guess = closest(option, names)
                hint = f"; did you mean '{guess}'?" if guess else "."
                raise NbkitError(
                    f"aligner '{head}': unknown option '{option}'{hint} There are: {', '.join(names) or 'none'}"
                )
    for parameter in known:
        is_needed = parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
        if is_needed and parameter.name not in options:
            raise NbkitError(f"aligner '{head}' needs the option '{parameter.name}'")
    return factory(src, tgt, argument if colon else None, **options)


def check_aligner(name: str, src: str, tgt: str, **options: Any) -> str | None:
    """Why the aligner cannot be used here, or None; loads no model and no torch.

    >>> check_aligner("lexicon", "en", "de")
    >>> check_aligner("eflomall", "en", "de")
    "unknown aligner 'eflomall'; did you mean 'eflomal'? There are: eflomal, embeddings, gold, lexicon, pharaoh"
    """
    try:
        aligner = load_aligner(name, src, tgt, **options)
    except NbkitError as error:
        return str(error)
    problem = getattr(aligner, "problem", None)
    return problem() if problem else None


def no_argument(aligner: str, argument: str | None) -> None:
    """Raise `NbkitError` where a name holds something after its colon that the aligner does not take."""
    if argument is not None:
        raise NbkitError(f"aligner '{aligner}:{argument}': '{aligner}' takes nothing after a colon")


def an_argument(aligner: str, argument: str | None, what: str) -> str:
    """What a name holds after its colon; `NbkitError` where it holds nothing."""
    if not argument:
        raise NbkitError(f"aligner '{aligner}': which {what.lower()}? Write {aligner}:{what}")
    return argument


# ----------------------------------------------------------------------------
# Links out of similarities, for a batch of pairs at once: argmax and itermax of simalign.
#
# Source: Jalili Sabet et al. 2020, "SimAlign", §3.1 (Argmax) and §3.2 (IterMax); simalign 0.4 (``inter``,
# ``itermax``). Of equal similarities the first counts, as in NumPy.

#: What a similarity is multiplied with in the second round of itermax where one of its two units is linked already.
_DISCOUNT = 0.9


# Below every similarity: padding.
_NOTHING = -1.0


def argmax(similarity: Tensor, is_pair: Tensor) -> Tensor:
    """Mutual argmax: units that are each other's most similar one.

    similarity: (pairs × source units × target units), in [0, 1]. is_pair: False where a unit is padding; of the same
    shape. Returns a boolean tensor of that shape.

    >>> similarity = torch.tensor([[[0.9, 0.8], [0.7, 0.1]]])
    >>> argmax(similarity, torch.ones_like(similarity, dtype=torch.bool)).tolist()
    [[[True, False], [False, False]]]
    """
    similarity = similarity.masked_fill(~is_pair, _NOTHING)
    best_target = torch.zeros_like(is_pair).scatter_(2, similarity.argmax(2, keepdim=True), True)
    best_source = torch.zeros_like(is_pair).scatter_(1, similarity.argmax(1, keepdim=True), True)
    return best_target & best_source & is_pair


def itermax(similarity: Tensor, is_pair: Tensor) -> Tensor:
    """Argmax, then once more among the pairs of which a unit is not linked: simalign's two rounds.

    In the second round similarities count 0.9 where one unit is linked, 0 where both are. Pairs with a side of at most
    two units, or with a side that is all linked, have the first round alone. Arguments and result as of `argmax`.

    >>> similarity = torch.tensor([[[0.9, 0.2, 0.8], [0.7, 0.1, 0.6], [0.3, 0.2, 0.2]]])
    >>> itermax(similarity, torch.ones_like(similarity, dtype=torch.bool)).int().tolist()
    [[[1, 0, 1], [1, 0, 0], [0, 0, 0]]]
    """
    first = argmax(similarity, is_pair)
    free_source = ~first.any(2, keepdim=True) & is_pair.any(2, keepdim=True)
    free_target = ~first.any(1, keepdim=True) & is_pair.any(1, keepdim=True)
    shorter = torch.minimum(is_pair.any(2).sum(1), is_pair.any(1).sum(1))
    goes_on = (shorter > 2) & free_source.any(2).any(1) & free_target.any(2).any(1)
    weight = torch.full_like(similarity, _DISCOUNT)
    weight = weight.masked_fill(free_source & free_target, 1.0).masked_fill(~free_source & ~free_target, 0.0)
    second = argmax(similarity * weight, is_pair) & (free_source | free_target)
    return first | (second & goes_on[:, None, None])


METHODS = {"argmax": argmax, "itermax": itermax}


# ----------------------------------------------------------------------------
# Contextual vectors of subwords from any encoder of transformers, and the word that each of them belongs to.


class Subwords(NamedTuple):
    """ids: of a whole text, special ones included. words: the word of each id, None for special ones."""

    ids: tuple[int, ...]
    words: tuple[int | None, ...]


class Encoder:
    """The lower *layer* layers of an encoder, in float32, with its tokenizer.

    Raises `ModelError` where the weights cannot be had, hold fewer layers, or where the tokenizer cannot say which
    word a subword belongs to.
    """

    def __init__(self, model: str, layer: int, device: str = "auto"):
        self.tokenizer, network = load_network(model, "AutoModel", device)
        if not self.tokenizer.is_fast:
            raise ModelError(
                f"model '{model}': its tokenizer, {type(self.tokenizer).__name__}, has no offsets: it cannot say which "
                "word a subword belongs to. Take a model with a fast tokenizer (tokenizer.json)"
            )
        if network.config.is_encoder_decoder:
            network = network.get_encoder()
        layers = network.config.num_hidden_layers
        if not 0 <= layer <= layers:
            raise ModelError(f"model '{model}': layer {layer} asked for; it has 0 (the embeddings) to {layers}")
        self.network = network
        self.layer = layer
        self.limit: int = self.tokenizer.model_max_length
        self.budget = budget(network)

    def subwords(self, texts: Sequence[Sequence[str]]) -> list[Subwords]:
        """The subwords of tokenised texts; what goes over the model's limit is cut off, with a warning."""
        encoded = self.tokenizer([list(words) for words in texts], is_split_into_words=True, verbose=False)
        whole = [Subwords(tuple(ids), tuple(encoded.word_ids(i))) for i, ids in enumerate(encoded["input_ids"])]
        longer = sum(len(text.ids) > self.limit for text in whole)
        if not longer:
            return whole
        warnings.warn(
            f"{longer} texts have more than the model's {self.limit} subwords: words after these get no links",
            stacklevel=3,
        )
        cut = self.tokenizer(
            [list(words) for words in texts], is_split_into_words=True, truncation=True, max_length=self.limit
        )
        return [Subwords(tuple(ids), tuple(cut.word_ids(i))) for i, ids in enumerate(cut["input_ids"])]

    def embed(self, batch: list[Subwords]) -> list[Any]:
        """A vector of length 1 for each subword of a word, (subwords × dimensions) a text. All texts are equally long,
        so that nothing is padded and no vector depends on the batch.
        """
        import torch

        ids = torch.tensor([text.ids for text in batch], device=self.network.device)
        with torch.inference_mode():
            states = self.network(
                input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True
            ).hidden_states[self.layer]
            states = torch.nn.functional.normalize(states, dim=-1)
        return [
            rows[[place for place, word in enumerate(text.words) if word is not None]]
            for rows, text in zip(states, batch, strict=True)
        ]


#: Names of the methods in `nbkit.measure.aligners`, which imports torch.
EXTRACTIONS = ("argmax", "itermax")


#: Pairs whose vectors are in memory together.
WINDOW = 1024


#: Similarities of a batch, for each token of the encoder's own batches.
SIMILARITIES = 64


class EmbeddingAligner:
    """Subwords are linked by cosine, ``argmax`` or ``itermax``; words are linked where any of their subwords are.

    argument: hub id (with an optional ``@revision``) or folder of an encoder, or of an encoder-decoder, of which the
    encoder is taken. layer: whose output the vectors are, 0 for the embeddings; 8 is simalign's choice for models of
    12. method: ``itermax`` finds more links, ``argmax`` surer ones. device: "auto", "cpu", "cuda".
    store: remembers links, pair by pair.

    The links are those of simalign 0.4 with ``token_type="bpe"`` and its defaults, computed for many pairs at once.
    Source: Jalili Sabet et al. 2020, "SimAlign".
    """

    def __init__(
        self,
        src: str,
        tgt: str,
        argument: str | None = None,
        *,
        layer: int = 8,
        method: str = "itermax",
        device: str = "auto",
        store: Store | None = None,
    ):
        self.model = an_argument("embeddings", argument, "MODEL")
        if method not in EXTRACTIONS:
            raise UnknownNameError("method of alignment", method, EXTRACTIONS)
        if layer < 0:
            raise NbkitError(f"aligner 'embeddings': layer={layer}; 0 (the embeddings) or more expected")
        self.layer, self.method = layer, method
        self._device, self._store = device, store

    @property
    def identity(self) -> dict[str, Any]:
        """What stands for the weights, the layer, the method, the device and the versions of what runs them."""
        return {
            "aligner": "embeddings",
            "version": 1,
            "layer": self.layer,
            "method": self.method,
            **network_identity(self.model, self._device),
        }

    def problem(self) -> str | None:
        """Why the weights cannot be had, or None; loads nothing."""
        return obstacle(self.model)

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """See `Aligner.align`. Each distinct pair is aligned once, and by itself: links depend on no other pair.

        Raises `ModelError` where the weights cannot be had or their tokenizer has no offsets.
        """
        checked = token_pairs(pairs)
        distinct = [pair for pair in dict.fromkeys(checked) if all(pair)]
        found: dict[TokenPair, Alignment] = {}
        if self._store is None:
            found.update(zip(distinct, self._computed(distinct, progress), strict=True))
        elif distinct:
            if is_missing(self.identity):
                self._encoder  # noqa: B018 - downloads, so that the key names a revision

            def compute(missing: list[tuple[str, ...]]) -> Iterator[dict[str, str]]:
                wanted = [(tuple(json.loads(source)), tuple(json.loads(target))) for source, target in missing]
                for links in self._computed(wanted, progress):
                    yield {"links": to_pharaoh(links)}

            keys = [(json.dumps(source), json.dumps(target)) for source, target in distinct]
            records = self._store.records({"kind": "alignment", **self.identity}, keys, compute)
            found.update((pair, from_pharaoh(record["links"])) for pair, record in zip(distinct, records, strict=True))
        for pair in checked:
            yield found.get(pair, ())

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder(self.model, self.layer, self._device)

    def _computed(self, pairs: list[TokenPair], progress: bool) -> Iterator[Alignment]:
        with progress_bar("align", len(pairs), progress, unit="pair") as bar:
            for start in range(0, len(pairs), WINDOW):
                window = pairs[start : start + WINDOW]
                yield from self._window(window)
                bar.update(len(window))

    def _window(self, pairs: list[TokenPair]) -> list[Alignment]:
        encoder = self._encoder
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        subwords = dict(zip(texts, encoder.subwords(texts), strict=True))
        embedded = run_batches(
            subwords.values(), lambda text: len(text.ids), encoder.embed, encoder.budget, group=_length
        )
        vectors = dict(zip(texts, embedded, strict=True))
        words = {text: [word for word in cut.words if word is not None] for text, cut in subwords.items()}

        def units(pair: TokenPair) -> int:
            return max(len(words[pair[0]]), len(words[pair[1]]))

        def match(batch: list[TokenPair]) -> list[Alignment]:
            linked = _match([(vectors[source], vectors[target]) for source, target in batch], self.method)
            return [
                tuple(sorted({(words[source][i], words[target][j]) for i, j in links}))
                for (source, target), links in zip(batch, linked, strict=True)
            ]

        # Tokens of spaces alone have no subwords. A batch holds units² similarities a pair.
        filled = [pair for pair in pairs if words[pair[0]] and words[pair[1]]]
        matched = run_batches(filled, lambda pair: units(pair) ** 2, match, encoder.budget * SIMILARITIES)
        links = dict(zip(filled, matched, strict=True))
        return [links.get(pair, ()) for pair in pairs]


def _length(text: Subwords) -> int:
    return len(text.ids)


def _match(batch: list[tuple[Tensor, Tensor]], method: str) -> list[list[list[int]]]:
    """Links between the vectors of each pair, which have length 1, by their similarity (cosine + 1) / 2."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    sources, targets = (pad_sequence(list(side), batch_first=True) for side in zip(*batch, strict=True))
    present = [
        pad_sequence([torch.ones(len(rows), dtype=torch.bool) for rows in side], batch_first=True).to(sources.device)
        for side in zip(*batch, strict=True)
    ]
    similarity = (torch.bmm(sources, targets.transpose(1, 2)) + 1) / 2
    is_pair = present[0].unsqueeze(2) & present[1].unsqueeze(1)
    links: list[list[list[int]]] = [[] for _ in batch]
    for number, source, target in globals()[method](similarity, is_pair).nonzero().tolist():
        links[number].append([source, target])
    return links


# ----------------------------------------------------------------------------
# eflomal: a Bayesian model of word alignment (IBM 1, HMM and fertility), sampled. GPL; an optional extra.
#
# Source: Östling and Tiedemann 2016, "Efficient Word Alignment with Markov Chain Monte Carlo". It stands in
# for the fast_align of the papers, whose own links come in through ``pharaoh:FILE``.

_INSTALL = (
    "aligner 'eflomal' needs the package eflomal, which is compiled (gcc, make, the headers of Python): "
    'pip install "nbkit[eflomal]"; other aligners: lexicon, pharaoh:FILE, embeddings:MODEL'
)


#: Texts of more tokens are left out by eflomal.
MOST_TOKENS = 1023


class EflomalAligner:
    """Both directions are sampled, then made one alignment.

    training: pairs of (source tokens, target tokens) to learn from first. Priors counted from their links are then
    what other pairs are aligned with, so that a few test sentences profit from a corpus; the training pairs
    themselves get the links of that first run. Without it, `align` learns from the pairs that it is given alone.
    symmetrisation: one of `SYMMETRISATIONS`. model: 1 (IBM 1), 2 (and HMM) or 3 (and fertility). samplers: independent
    chains whose expectations are averaged. iterations: relative to eflomal's own number, which falls with the size of
    the corpus. null_prior: probability of a word without a link. store: remembers links and priors.

    Each distinct pair counts once, and pairs are sorted first, so that their order and repeats change nothing. Case is
    ignored. Texts of more than 1,023 tokens get no links, with a warning. eflomal takes its seed from the system and
    offers no way to set one: two runs differ a little, and *store* is what makes one run's links last.

    Raises `MissingExtraError` when links are asked for without the package, `NbkitError` for settings out of range.
    """

    def __init__(
        self,
        src: str,
        tgt: str,
        argument: str | None = None,
        *,
        training: Iterable[tuple[Sequence[str], Sequence[str]]] | None = None,
        symmetrisation: str = "grow-diag-final-and",
        model: int = 3,
        samplers: int = 3,
        iterations: float = 1.0,
        null_prior: float = 0.2,
        store: Store | None = None,
    ):
        no_argument("eflomal", argument)
        if symmetrisation not in SYMMETRISATIONS:
            raise UnknownNameError("symmetrisation", symmetrisation, SYMMETRISATIONS)
        if model not in (1, 2, 3) or samplers < 1 or iterations <= 0 or not 0 < null_prior < 1:
            raise NbkitError(
                f"aligner 'eflomal': model={model}, samplers={samplers}, iterations={iterations}, "
                f"null_prior={null_prior}; 1, 2 or 3, at least 1, more than 0, and between 0 and 1 expected"
            )
        self._settings = {
            "model": model,
            "n_samplers": samplers,
            "rel_iterations": iterations,
            "null_prior": null_prior,
        }
        self._symmetrisation = symmetrisation
        self._training = None if training is None else _usable(token_pairs(training))
        if self._training == []:
            raise NbkitError("aligner 'eflomal': training holds no pair with words on both sides")
        self._store = store

    @property
    def identity(self) -> dict[str, Any]:
        """The package's version, the settings, and the digest of the training pairs. No seed: there is none to set."""
        return {**self._sampling, "training": self._training_digest, "symmetrisation": self._symmetrisation}

    def problem(self) -> str | None:
        """The install line where the package is missing, else None."""
        return None if find_spec("eflomal") else _INSTALL

    def align(
        self, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], *, progress: bool = True
    ) -> Iterator[Alignment]:
        """See `Aligner.align`: all pairs are one unit of work, sampled together and remembered together."""
        checked = token_pairs(pairs)
        usable = _usable(checked)
        places = {pair: place for place, pair in enumerate(usable)}
        directions = self._directions(usable) if usable else None
        for pair in checked:
            if directions is None or pair not in places:
                yield ()
                continue
            forward, backward = (from_pharaoh(lines[places[pair]]) for lines in directions)
            yield symmetrise(forward, backward, self._symmetrisation)

    @property
    def _sampling(self) -> dict[str, Any]:
        return {
            "aligner": "eflomal",
            "version": 1,
            "eflomal": version("eflomal") if find_spec("eflomal") else None,
            **self._settings,
        }

    @cached_property
    def _training_digest(self) -> str | None:
        return None if self._training is None else pairs_digest(self._training)

    def _directions(self, pairs: list[TokenPair]) -> tuple[list[str], list[str]]:
        """The links of each direction, a line a pair: remembered, or sampled now."""
        digest = pairs_digest(pairs)
        if digest == self._training_digest:
            return self._of_training
        if self._training is None:
            return self._remembered(pairs, digest, None, lambda: None)
        return self._remembered(pairs, digest, self._training_digest, lambda: self._priors)

    @cached_property
    def _of_training(self) -> tuple[list[str], list[str]]:
        assert self._training is not None
        assert self._training_digest is not None
        return self._remembered(self._training, self._training_digest, None, lambda: None)

    def _remembered(
        self, pairs: list[TokenPair], digest: str, training: str | None, priors: Callable[[], list[str] | None]
    ) -> tuple[list[str], list[str]]:
        def sample() -> pd.DataFrame:
            import pandas as pd

            forward, backward = _sample(pairs, self._settings, priors())
            return pd.DataFrame({"forward": forward, "backward": backward})

        config = {"kind": "alignment", **self._sampling, "training": training, "pairs": digest}
        table = self._table(config, sample)
        return table["forward"].to_list(), table["backward"].to_list()

    @cached_property
    def _priors(self) -> list[str]:
        """The lines of eflomal's priors file, counted from the links of the training pairs."""

        def count() -> pd.DataFrame:
            import pandas as pd

            _check_package()
            from eflomal import calculate_priors, write_priors

            lines = StringIO()
            write_priors(lines, *calculate_priors(*_lines(self._training or []), *self._of_training))
            return pd.DataFrame({"line": lines.getvalue().splitlines()})

        config = {"kind": "alignment-priors", **self._sampling, "training": self._training_digest}
        return self._table(config, count)["line"].to_list()

    def _table(self, config: dict[str, Any], compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        return compute() if self._store is None else self._store.table(config, compute)


def _usable(pairs: Iterable[TokenPair]) -> list[TokenPair]:
    """The distinct pairs with words on both sides, and not too many for eflomal, sorted."""
    distinct = {pair for pair in pairs if all(pair)}
    usable = sorted(pair for pair in distinct if max(map(len, pair)) <= MOST_TOKENS)
    if len(usable) < len(distinct):
        warnings.warn(
            f"{len(distinct) - len(usable)} pairs hold a text of more than {MOST_TOKENS} tokens, which eflomal does "
            "not align: they get no links",
            stacklevel=3,
        )
    return usable


def _lines(pairs: list[TokenPair]) -> tuple[list[str], list[str]]:
    """The texts of each side in lower case, as eflomal reads them: one word for each token, whatever is in it."""
    source, target = ([" ".join(map(_word, pair[side])) for pair in pairs] for side in (0, 1))
    return source, target


def _word(token: str) -> str:
    return "_".join(token.lower().split()) or "_"


def _check_package() -> None:
    if not find_spec("eflomal"):
        raise MissingExtraError(_INSTALL)


def _sample(pairs: list[TokenPair], settings: dict[str, Any], priors: list[str] | None) -> tuple[list[str], list[str]]:
    """Run eflomal on *pairs*; the links of each direction, source first, a line a pair."""
    _check_package()
    import eflomal

    source, target = _lines(pairs)
    with tempfile.TemporaryDirectory(prefix="nbkit-align-") as folder:
        links = [Path(folder) / name for name in ("forward", "backward")]
        try:
            eflomal.Aligner(**settings).align(
                source,
                target,
                links_filename_fwd=str(links[0]),
                links_filename_rev=str(links[1]),
                priors_input=priors,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            raise NbkitError(
                f"aligner 'eflomal' failed on {len(pairs)} pairs: {error}. Where it was compiled on another machine, "
                "compile it on this one: pip install --force-reinstall --no-cache-dir eflomal"
            ) from error
        forward, backward = (path.read_text(encoding="ascii").splitlines() for path in links)
    if not len(forward) == len(backward) == len(pairs):
        raise NbkitError(f"eflomal gave {len(forward)} and {len(backward)} lines of links for {len(pairs)} pairs")
    return forward, backward


# ----------------------------------------------------------------------------
# Word alignments behind one interface: gold, a word list, eflomal, Pharaoh files, embeddings of an encoder.
#
# >>> aligner = load_aligner("lexicon", "en", "de")
# >>> list(aligner.align([(("the", "old", "dog", "sleeps"), ("der", "alte", "Hund", "schläft"))], progress=False))
# [((0, 0), (1, 1), (2, 2), (3, 3))]
