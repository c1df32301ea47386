"""The 16 perturbations of the paper, a registry that knows every spelling the paper uses; and how they are applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import yaml

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
    >>> PERTURBATIONS.register("mine", Perturbation("mine", "random", (), "tokns", reorderings.reversed_order))
    Traceback (most recent call last):
    nbkit.errors.UnknownNameError: unknown needs of perturbation 'mine' 'tokns'; did you mean 'tokens'? ...
    """

    def canonical(self, name: str) -> str:
        """The registered name that *name* stands for. Raises `UnknownNameError`."""
        if name in self:
            return name
        wanted = _squeezed(name)
        for known in self.names():
            if wanted == _squeezed(known) or wanted in map(_squeezed, super().get(known).aliases):
                return known
        raise UnknownNameError(self.kind, name, self.names())

    def get(self, name: str) -> Perturbation:
        """The perturbation that *name* stands for. Raises `UnknownNameError`."""
        return super().get(name if name in self._entries else self.canonical(name))


def label(name: str) -> str:
    """The name of a perturbation, or of the control, in figures and tables.

    >>> label("noun_adj_swap"), label("control")
    ('Noun–adjective swap', 'Control')
    """
    if name == CONTROL:
        return "Control"
    perturbation = PERTURBATIONS.get(name)
    return perturbation.label or perturbation.name


def _checked(name: str, thing: object) -> Perturbation:
    """*thing*, or an `NbkitError` where it cannot be the perturbation registered under *name*."""
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
    return thing


def _squeezed(name: str) -> str:
    return "".join(filter(str.isalnum, name)).lower()


def _registered(entries: dict[str, dict[str, Any]]) -> Perturbations:
    registry = Perturbations("perturbation", made=_checked)
    for name, entry in entries.items():
        function = getattr(reorderings, entry.get("function", name))
        perturbation = Perturbation(name, **{**entry, "function": function, "aliases": tuple(entry["aliases"])})
        registry.register(name, perturbation, summary=perturbation.summary)
    return registry


_PUBLISHED = yaml.safe_load((files("nbkit.perturb") / "perturbations.yaml").read_text(encoding="utf-8"))
#: All perturbations: the paper's, and those registered with ``PERTURBATIONS.register(name, Perturbation(…))``.
PERTURBATIONS = _registered(_PUBLISHED)
#: The paper's 16, in its order (§4): by tree, by part of speech, random.
NAMES: tuple[str, ...] = tuple(_PUBLISHED)


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
    return _order(View(sentence, unit), PERTURBATIONS.get(name), seed, draw)


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
    perturbations = [PERTURBATIONS.get(name) for name in (NAMES if names is None else names)]
    views = [View(sentence, unit) for sentence in text.sentences]
    is_long_enough = len(text) >= min_tokens
    results: dict[str, tuple[Order | None, ...] | None] = {}
    for perturbation in perturbations:
        orders = tuple([_order(view, perturbation, seed, draw) for view in views])
        is_moved = any(order is not None for order in orders)
        results[perturbation.name] = orders if is_long_enough and is_moved else None
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


def _order(view: View, perturbation: Perturbation, seed: int, draw: int) -> Order | None:
    """The order of the whole sentence, checked; None where the perturbation does not apply or show.

    What somebody's own function raises comes with the perturbation's name and the sentence.
    """
    _check_annotation(view, perturbation)
    draws = Draws(seed, perturbation.name, draw, view.sentence.digest) if perturbation.random else NO_DRAWS
    try:
        moved = perturbation.function(view, draws)
    except NbkitError:
        raise
    except Exception as error:
        raise NbkitError(
            f"perturbation '{perturbation.name}' failed at {view.sentence.joined!r}: {type(error).__name__}: {error}"
        ) from error
    if moved is None:
        return None
    try:
        is_permutation = sorted(moved) == list(range(view.length))
    except TypeError:  # no list, or not of numbers
        is_permutation = False
    if not is_permutation:
        raise NbkitError(
            f"perturbation '{perturbation.name}' returned {moved} for {view.sentence.joined!r}, which is no "
            f"permutation of its {view.length} tokens before the final punctuation"
        )
    return None if view.reads_same(moved) else np.fromiter([*moved, *view.final], np.intp)


def _check_annotation(view: View, perturbation: Perturbation) -> None:
    needs = "pos" if perturbation.needs == "phrases" and view.unit == "token" else perturbation.needs
    lacks = [field for field in ANNOTATION[needs] if getattr(view.sentence, field) is None]
    if lacks:
        raise NbkitError(
            f"perturbation '{perturbation.name}' needs {' and '.join(lacks)}, which {view.sentence.joined!r} "
            "lacks: parse it first (nbkit.text.parsers), or read it from a treebank"
        )


def _check_unit(unit: str) -> None:
    if unit not in get_args(Unit):
        raise UnknownNameError("unit", unit, get_args(Unit))
