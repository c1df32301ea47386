"""The 16 perturbations of the paper, a registry that knows every spelling the paper uses; and how they are applied."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

import numpy as np

from nbkit.errors import NbkitError, UnknownNameError
from nbkit.perturb import reorderings
from nbkit.perturb.view import NO_DRAWS, Draws, Unit, View
from nbkit.registry import Registry
from nbkit.text.sentences import Order, Sentence, Text

Category: TypeAlias = Literal["tree", "pos", "random"]

#: What a sentence must carry: tokens only; coarse tags; a dependency tree; or tags, tree and labels.
Needs: TypeAlias = Literal["tokens", "pos", "tree", "phrases"]

#: The fields of a `Sentence` that each need stands for.
ANNOTATION: dict[str, tuple[str, ...]] = {
    "tokens": (),
    "pos": ("upos",),
    "tree": ("heads",),
    "phrases": ("upos", "heads", "deprels"),
}

#: The name under which grids translate and score a sentence re-joined from its own tokens in their own
#: order. It is no perturbation: `Text.joined` is its text.
CONTROL = "control"


@dataclass(frozen=True)
class Perturbation:
    """A way to reorder a sentence.

    function: takes the sentence's `View` and its addressed `Draws`, and returns an order of the view's
    ``view.length`` tokens, or None where the entry condition is not met. It need not look after final
    punctuation or after orders that change nothing: `perturb` does.
    category: where figures group it. needs: what the sentence must carry. aliases: other spellings.
    random: whether it draws, so that two draws may differ and a chance level is worth computing.
    label: the name in figures. summary: one line for lists.
    """

    name: str
    category: Category
    aliases: tuple[str, ...]
    needs: Needs
    function: Callable[[View, Draws], list[int] | None]
    random: bool = False
    label: str = ""
    summary: str = ""


class Perturbations(Registry[Perturbation]):
    """A registry in which names are found in any case, with or without underscores, and by their aliases.

    >>> PERTURBATIONS.canonical("TreeMirrorPo"), PERTURBATIONS.canonical("verb-at-beginning")
    ('tree_mirror_post', 'verb_at_beginning')
    >>> PERTURBATIONS.canonical("tree_miror_in")
    Traceback (most recent call last):
    nbkit.errors.UnknownNameError: unknown perturbation 'tree_miror_in'; did you mean 'tree_mirror_in'? There are: ...
    """

    def canonical(self, name: str) -> str:
        """The registered name that *name* stands for. Raises `UnknownNameError`."""
        if name in self:
            return name
        wanted = _squeezed(name)
        for known in self.names():
            if wanted == _squeezed(known) or wanted in map(_squeezed, self._loaded(known).aliases):
                return known
        raise UnknownNameError(self.kind, name, self.names())

    def get(self, name: str) -> Perturbation:
        """The perturbation that *name* stands for. Raises `UnknownNameError`."""
        entry = self._entries.get(name)
        if isinstance(entry, Perturbation):  # the way of nearly every call
            return entry
        return self._loaded(self.canonical(name))

    def several(self, names: Iterable[str]) -> list[Perturbation]:
        """`get` of each of *names*."""
        entries = self._entries
        # A call for each would take as long as some of the perturbations.
        return [entry if isinstance(entry := entries.get(name), Perturbation) else self.get(name) for name in names]

    def _loaded(self, name: str) -> Perturbation:
        """The one registered under exactly this name; what was given as a path is checked when it is imported."""
        entry = self._entries[name]
        perturbation = super().get(name)
        try:
            _check(name, perturbation)
        except NbkitError:
            self._entries[name] = entry  # so that it is refused the next time too
            raise
        return perturbation

    def register(self, name: str, thing: Perturbation | str, *, summary: str = "", replace: bool = False) -> None:
        """Add a perturbation under its name. Raises `NbkitError` for one that is taken, or does not fit.

        >>> PERTURBATIONS.register("mine", Perturbation("mine", "random", (), "tokns", reorderings.reversed_order))
        Traceback (most recent call last):
        nbkit.errors.UnknownNameError: unknown needs of perturbation 'mine' 'tokns'; did you mean 'tokens'? ...
        """
        if not isinstance(thing, str):
            _check(name, thing)
        super().register(name, thing, summary=summary, replace=replace)


def label(name: str) -> str:
    """The name of a perturbation, or of the control, in figures and tables.

    >>> label("noun_adj_swap"), label("control")
    ('Noun–adjective swap', 'Control')
    """
    if name == CONTROL:
        return "Control"
    perturbation = PERTURBATIONS.get(name)
    return perturbation.label or perturbation.name


def _check(name: str, thing: object) -> None:
    """Raise `NbkitError` unless *thing* can be the perturbation registered under *name*."""
    if not isinstance(thing, Perturbation):
        raise NbkitError(f"perturbation '{name}' is a {type(thing).__name__}; Perturbation(\"{name}\", …) is expected")
    if thing.name != name:
        raise NbkitError(f"perturbation '{name}' calls itself '{thing.name}': it needs one name for both")
    if name == CONTROL:
        raise NbkitError(f"perturbation '{name}': the name stands for a sentence in its own order; choose another")
    if thing.category not in get_args(Category):
        raise UnknownNameError(f"category of perturbation '{name}'", thing.category, get_args(Category))
    if thing.needs not in ANNOTATION:
        raise UnknownNameError(f"needs of perturbation '{name}'", thing.needs, ANNOTATION)
    if not callable(thing.function):
        raise NbkitError(f"perturbation '{name}': its function is {thing.function!r}, which cannot be called")


def _squeezed(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _rows(file: str) -> Iterator[dict[str, str]]:
    text = (files("nbkit.perturb") / file).read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines(), delimiter="\t")


#: The functions of the paper's perturbations, which the tests prove to return permutations.
PUBLISHED: dict[str, Callable[[View, Draws], list[int] | None]] = {
    "tree_mirror_pre": reorderings.tree_mirror_pre,
    "tree_mirror_post": reorderings.tree_mirror_post,
    "tree_mirror_in": reorderings.tree_mirror_in,
    "rotate_around_root": reorderings.rotate_around_root,
    "noun_swaps": reorderings.noun_swaps,
    "verb_swaps": reorderings.verb_swaps,
    "adverb_verb_swap": reorderings.adverb_verb_swap,
    "noun_adj_swap": reorderings.noun_adj_swap,
    "noun_verb_swap": reorderings.noun_verb_swap,
    "noun_verb_mismatched": reorderings.noun_verb_mismatched,
    "functional_shuffle": reorderings.functional_shuffle,
    "verb_at_beginning": reorderings.verb_at_beginning,
    "word_shuffle": reorderings.word_shuffle,
    "shuffle_first_half": reorderings.shuffle_first_half,
    "shuffle_last_half": reorderings.shuffle_last_half,
    "reversed": reorderings.reversed_order,
}


def _published() -> Perturbations:
    aliases: dict[str, list[str]] = {}
    for row in _rows("aliases.tsv"):
        aliases.setdefault(row["name"], []).append(row["alias"])
    registry = Perturbations("perturbation")
    for row in _rows("perturbations.tsv"):
        name = row["name"]
        perturbation = Perturbation(
            name=name,
            category=row["category"],  # type: ignore[arg-type]
            aliases=tuple(aliases[name]),
            needs=row["needs"],  # type: ignore[arg-type]
            function=PUBLISHED[name],
            random=row["random"] == "yes",
            label=row["label"],
            summary=row["summary"],
        )
        registry.register(name, perturbation, summary=row["summary"])
    return registry


#: All perturbations: the paper's, and those registered with ``PERTURBATIONS.register(name, Perturbation(…))``.
PERTURBATIONS = _published()

#: The paper's 16, in its order (§4): by tree, by part of speech, random.
NAMES: tuple[str, ...] = tuple(PUBLISHED)


# ----------------------------------------------------------------------------
# Sentence and perturbation to order: what holds for every perturbation is seen to here, once.


def perturb(sentence: Sentence, name: str, *, seed: int = 0, draw: int = 0, unit: Unit = "phrase") -> Order | None:
    """The order in which perturbation *name* puts the tokens of *sentence*, or None where it does not apply.

    An order is a permutation of ``0 … len(sentence) - 1``: place i holds token ``order[i]``. Final
    punctuation keeps its place. None means that the entry condition is not met (two verbs to swap, …)
    or that the result would read the same (also *the* in the place of *the*).

    name: one of `NAMES`, in any of the paper's spellings, or a registered one.
    seed, draw: with the name and the sentence's own words they are the address of all randomness, so
    that the order depends on nothing else. Draws 0, 1, … are independent.
    unit: whether noun_swaps, noun_verb_swap and noun_verb_mismatched move base noun phrases or tokens.

    Raises `UnknownNameError` for an unknown name or unit, `NbkitError` where the sentence lacks the
    annotation that the perturbation needs. Source: word-order paper, §4 and Figure 3.

    >>> tom = Sentence(
    ...     tuple("Tom said he could n't find a decent place to live .".split()), "en",
    ...     upos=tuple("PROPN VERB PRON AUX PART VERB DET ADJ NOUN PART VERB PUNCT".split()),
    ...     heads=(1, -1, 5, 5, 5, 1, 8, 8, 5, 10, 8, 1),
    ...     deprels=tuple("nsubj root nsubj aux advmod ccomp det amod obj mark acl punct".split()))
    >>> perturb(tom, "tree_mirror_pre").tolist()
    [1, 5, 8, 10, 9, 6, 7, 2, 3, 4, 0, 11]
    >>> tom.reorder(perturb(tom, "tree_mirror_pre"))
    "said find place live to a decent he could n't Tom ."
    >>> tom.reorder(perturb(tom, "NounVerbSwaps"))
    "said Tom could he n't a decent place find to live ."
    >>> tom.reorder(perturb(tom, "noun_verb_swap", unit="token"))
    "said Tom could he n't find a decent live to place ."
    >>> [tom.reorder(perturb(tom, "shuffle_last_half", draw=draw)) for draw in (0, 1)]
    ["Tom said he could n't find to a place live decent .", "Tom said he could n't find to place decent a live ."]
    >>> print(perturb(tom, "adverb_verb_swap"))
    None
    """
    _check_unit(unit)
    if not isinstance(sentence, Sentence):
        way_out = "; perturb_text takes a whole Text" if isinstance(sentence, Text) else ""
        raise NbkitError(f"a nbkit.text.sentences.Sentence is expected, found {_shown(sentence)}{way_out}")
    view = View(sentence, unit)
    (order,) = _arrays(view, _moved(view, [PERTURBATIONS.get(name)], seed, draw))
    return order


def perturb_text(
    text: Text, name: str, *, seed: int = 0, draw: int = 0, unit: Unit = "phrase", min_tokens: int = 4
) -> tuple[Order | None, ...] | None:
    """The order of each sentence of *text*, or None where the text is not part of the perturbation's N.

    That is where no sentence can be perturbed, or where the text has fewer than *min_tokens* tokens,
    punctuation included. Sentences are perturbed one by one; one that cannot be keeps its order (None).
    Arguments and errors are those of `perturb`. Source: word-order paper, §3 (entry conditions), Table 5.

    >>> go = Sentence(("Go", "away", "!"), "en", heads=(-1, 0, 0))
    >>> hate = Sentence(("I", "hate", "you", "!"), "en", heads=(1, -1, 1, 1))
    >>> orders = perturb_text(Text((go, hate)), "tree_mirror_post")
    >>> Text((go, hate)).reorder(orders)
    'away Go ! you I hate !'
    >>> print(perturb_text(Text((go,)), "tree_mirror_post"))
    None
    """
    return perturb_all(text, [name], seed=seed, draw=draw, unit=unit, min_tokens=min_tokens)[
        PERTURBATIONS.canonical(name)
    ]


def perturb_all(
    text: Text,
    names: Iterable[str] | None = None,
    *,
    seed: int = 0,
    draw: int = 0,
    unit: Unit = "phrase",
    min_tokens: int = 4,
) -> dict[str, tuple[Order | None, ...] | None]:
    """What `perturb_text` returns, for several perturbations (the paper's 16) from one look at each sentence.

    The keys are the canonical names, in the order asked for.

    >>> text = Text((Sentence(("Tom", "saw", "Mary", "here", "."), "en"),))
    >>> perturb_all(text, ["Reversed"])
    {'reversed': (array([3, 2, 1, 0, 4]),)}
    """
    _check_unit(unit)
    if not isinstance(text, Text):
        raise NbkitError(
            f"a nbkit.text.sentences.Text is expected, found {_shown(text)}; parse texts first: "
            'next(load_parser("en_core_web_sm", "en").parse(["…"])) of nbkit.text.parsers'
        )
    perturbations = PERTURBATIONS.several(NAMES if names is None else names)
    views = [View(sentence, unit) for sentence in text.sentences]
    moved = [_moved(view, perturbations, seed, draw) for view in views]
    orders = [_arrays(view, lists) for view, lists in zip(views, moved, strict=True)]
    long_enough = sum([len(sentence.tokens) for sentence in text.sentences]) >= min_tokens
    if len(views) == 1:  # as nearly all texts have it
        (arrays,) = orders
        return {
            perturbation.name: (array,) if long_enough and array is not None else None
            for perturbation, array in zip(perturbations, arrays, strict=True)
        }
    none_moved = (None,) * len(views)
    results: dict[str, tuple[Order | None, ...] | None] = {}
    for perturbation, lists, all_arrays in zip(
        perturbations, zip(*moved, strict=True), zip(*orders, strict=True), strict=True
    ):
        results[perturbation.name] = all_arrays if long_enough and lists != none_moved else None
    return results


def is_drawn(text: Text, name: str, *, seed: int = 0, unit: Unit = "phrase") -> bool:
    """Whether chance has a say in the order of *text* under perturbation *name*: several outcomes are possible.

    Two verbs to swap leave one order, and so does what draws nothing. A custom perturbation that draws although it has
    one outcome is not noticed.

    >>> two = Sentence(("I", "know", "you", "sing", "."), "en", upos=("PRON", "VERB", "PRON", "VERB", "PUNCT"))
    >>> is_drawn(Text((two,)), "verb_swaps"), is_drawn(Text((two,)), "word_shuffle"), is_drawn(Text((two,)), "reversed")
    (False, True, False)
    """
    perturbation = PERTURBATIONS.get(name)
    for sentence in text.sentences if perturbation.random else ():
        draws = Draws(seed, perturbation.name, 0, sentence.digest)
        perturbation.function(View(sentence, unit), draws)
        if draws.asked:
            return True
    return False


def _shown(found: object) -> str:
    return f"the {type(found).__name__} {found!r:.40}"


def _moved(view: View, perturbations: Sequence[Perturbation], seed: int, draw: int) -> list[list[int] | None]:
    """The order of the tokens that may move by each of the perturbations; None where it does not apply or show."""
    if view.missing:
        for perturbation in perturbations:
            _check_annotation(view, perturbation)
    sentence, reads_same, tokens = view.sentence, view.reads_same, view.tokens
    first = tokens[0] if tokens else None
    orders = []
    for perturbation in perturbations:
        function = perturbation.function
        draws = Draws(seed, perturbation.name, draw, sentence.digest) if perturbation.random else NO_DRAWS
        if function in _PROVEN:
            order = function(view, draws)
            # Most orders begin with another word: the fastest way to see that they show.
            if function not in _SHOWN and (not order or (tokens[order[0]] == first and reads_same(order))):
                order = None
        else:
            order = _own_order(view, perturbation, draws)
            if order is not None and reads_same(order):
                order = None
        orders.append(order)
    return orders


def _arrays(view: View, moved: Sequence[list[int] | None]) -> list[Order | None]:
    """The orders of the whole sentence, as arrays: all rows of one, which is made faster than one array an order."""
    flat: list[int] = []
    final = view.final
    rows = 0
    for order in moved:
        if order is not None:
            flat += order
            flat += final
            rows += 1
    length = len(view.sentence.tokens)
    # Bytes hold the places of nearly every sentence, and are packed several times as fast as integers.
    numbers = np.frombuffer(bytes(flat), _BYTE) if length <= 256 else np.array(flat)
    arrays = iter(numbers.astype(_INDEX).reshape(rows, length))
    return [None if order is None else next(arrays) for order in moved]


# Looked up once: NumPy takes longer to find the type that a class stands for than to read the numbers.
_BYTE, _INDEX = np.dtype(np.uint8), np.dtype(np.intp)

_PROVEN = frozenset(PUBLISHED.values())
#: Those that draw until the order shows (`nbkit.perturb.reorderings`), or return None.
_SHOWN = frozenset(PUBLISHED[name] for name in NAMES if PERTURBATIONS.get(name).random)


def _own_order(view: View, perturbation: Perturbation, draws: Draws) -> list[int] | None:
    """What a perturbation of one's own returns, checked; what it raises comes with its name and the sentence's."""
    try:
        order = perturbation.function(view, draws)
    except NbkitError:
        raise
    except Exception as error:  # somebody else's function may raise anything
        raise NbkitError(
            f"perturbation '{perturbation.name}' failed at {view.sentence.joined!r}: {type(error).__name__}: {error}"
        ) from error
    if order is not None:
        _check_permutation(view, perturbation, order)
    return order


def _check_permutation(view: View, perturbation: Perturbation, moved: list[int]) -> None:
    try:
        is_permutation = sorted(moved) == list(range(view.length))
    except TypeError:  # no list, or not of numbers
        is_permutation = False
    if not is_permutation:
        raise NbkitError(
            f"perturbation '{perturbation.name}' returned {moved} for {view.sentence.joined!r}, which is no "
            f"permutation of its {view.length} tokens before the final punctuation"
        )


def _check_annotation(view: View, perturbation: Perturbation) -> None:
    needs = "pos" if perturbation.needs == "phrases" and view.unit == "token" else perturbation.needs
    lacks = [field for field in ANNOTATION[needs] if field in view.missing]
    if lacks:
        raise NbkitError(
            f"perturbation '{perturbation.name}' needs {' and '.join(lacks)}, which {view.sentence.joined!r} "
            "lacks: parse it first (nbkit.text.parsers), or read it from a treebank"
        )


_UNITS = get_args(Unit)


def _check_unit(unit: str) -> None:
    if unit not in _UNITS:
        raise UnknownNameError("unit", unit, _UNITS)
