"""Names, arguments, missing annotation, final punctuation, and perturbations of one's own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import nbkit.perturb
from nbkit.errors import NbkitError, UnknownNameError
from nbkit.perturb import CONTROL, NAMES, PERTURBATIONS, Perturbation, View, label, perturb, perturb_all, perturb_text
from nbkit.text.sentences import Sentence, Text
from tests.perturb.annotated import annotated, published

PLAIN = Sentence(("Tom", "said", "he", "slept", "."), "en")


def test_the_names_are_the_paper_s_sixteen_in_three_categories() -> None:
    categories = [PERTURBATIONS.get(name).category for name in NAMES]
    assert len(NAMES) == 16
    assert categories == ["tree"] * 4 + ["pos"] * 8 + ["random"] * 4  # §4: 4, 8 and 4
    assert CONTROL not in NAMES
    assert all(PERTURBATIONS.summary(name) for name in NAMES)
    assert len({label(name) for name in NAMES}) == 16


@pytest.mark.parametrize("name", sorted({example.name for example in published()}))
def test_every_spelling_of_the_examples_is_known(name: str) -> None:
    assert PERTURBATIONS.canonical(name) in NAMES
    assert PERTURBATIONS.canonical(name.upper()) == PERTURBATIONS.canonical(name)


#: The rows of Table 1 and of Table 6.
TABLE_1 = (
    "TreeMirrorPre TreeMirrorPost TreeMirrorIn VerbAdvSwaps VerbSwaps NounAdjSwaps FuncShuffle NounVerbSwaps "
    "NounVerbMis ShuffleLastHalf VerbAtBeginning RotateAroundRt WordShuffle ShuffleFirstHalf NounSwaps Reversed"
)
TABLE_6 = (
    "treeMirrorPre treeMirrorPo treeMirrorIn rotateAroundRoot nounSwaps verbAtBeginning verbSwaps adverbVerbSwap "
    "nounVerbSwap nounVerbMismatched nounAdjSwap functionalShuffle shuffleHalvesFirst shuffleHalvesLast reversed "
    "wordShuffle"
)


@pytest.mark.parametrize("rows", [TABLE_1, TABLE_6], ids=["Table 1", "Table 6"])
def test_the_rows_of_the_paper_s_tables_are_the_sixteen(rows: str) -> None:
    assert sorted(PERTURBATIONS.canonical(row) for row in rows.split()) == sorted(NAMES)


def test_no_spelling_stands_for_two_perturbations() -> None:
    published = yaml.safe_load(Path(nbkit.perturb.__file__).with_name("perturbations.yaml").read_text(encoding="utf-8"))
    meanings: dict[str, set[str]] = {}
    for name, alias in [(name, alias) for name, entry in published.items() for alias in entry["aliases"]]:
        meanings.setdefault(re.sub(r"\W", "", alias).lower(), set()).add(name)
        assert PERTURBATIONS.canonical(alias) == name
    assert all(len(names) == 1 for names in meanings.values())


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'verb_swaps'"):
        perturb(PLAIN, "verb_swap")
    with pytest.raises(UnknownNameError, match="unknown perturbation 'control'"):
        perturb(PLAIN, CONTROL)
    with pytest.raises(UnknownNameError, match=r"unknown unit 'word'.*phrase, token"):
        perturb(PLAIN, "reversed", unit="word")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_missing_annotation_is_an_error_that_names_it(name: str) -> None:
    """None means that a sentence is not part of N; one that was never parsed must not pass for that."""
    needs = PERTURBATIONS.get(name).needs
    if needs == "tokens":
        assert perturb(PLAIN, name) is not None
        return
    tags, tree = "no parts of speech", "no dependency tree"
    lacks = {"pos": tags, "tree": tree, "phrases": f"{tags}, {tree}, no relations"}[needs]
    with pytest.raises(NbkitError, match=rf"'{name}': 'Tom said he slept \.' has {lacks}: parse it first"):
        perturb(PLAIN, name)
    with pytest.raises(NbkitError, match=f"'{name}': .* has no"):
        perturb_text(Text((PLAIN,)), name)


def test_tokens_need_no_tree_where_phrases_do() -> None:
    tagged = annotated("Tom/PROPN said/VERB he/PRON slept/VERB ./PUNCT")
    order = perturb(tagged, "noun_swaps", unit="token")
    assert order is not None
    assert tagged.reorder(order) == "he said Tom slept ."
    with pytest.raises(NbkitError, match=r"'noun_swaps': .* has no dependency tree, no relations"):
        perturb(tagged, "noun_swaps")


@pytest.mark.parametrize(
    ("line", "movable"),
    [
        ("He/PRON left/VERB ./PUNCT", 2),
        ('He/PRON left/VERB ./PUNCT "/PUNCT )/PUNCT', 2),
        ("He/PRON left/VERB ,/PUNCT she/PRON said/VERB", 5),
        ("He left ? ! ”", 2),
        ("他 走 了 。", 3),
        ("It/PRON cost/VERB 5/NUM %/SYM ./PUNCT", 4),
        ("A/DET wrongly/ADV tagged/VERB stop/NOUN ./NOUN", 4),
        ("./PUNCT ./PUNCT", 0),
    ],
)
def test_final_punctuation_is_the_run_at_the_end(line: str, movable: int) -> None:
    assert View(annotated(line)).length == movable


def test_final_punctuation_stays_wherever_it_hangs_in_the_tree() -> None:
    sentence = annotated("Go/VERB/3/x away/ADV/1/x !/PUNCT/0/root ”/PUNCT/1/x")
    for name in ("tree_mirror_pre", "tree_mirror_post", "tree_mirror_in", "rotate_around_root"):
        order = perturb(sentence, name)
        assert order is None or order[2:].tolist() == [2, 3]


@pytest.mark.parametrize("line", ["", ".", "Go", "Go !", "ha ha ha !"])
def test_nothing_to_move_is_none(line: str) -> None:
    tokens = tuple(line.split())
    sentence = Sentence(tokens, "en", upos=tuple("PUNCT" if t in ".!" else "VERB" for t in tokens))
    for name in ("word_shuffle", "reversed", "shuffle_first_half", "shuffle_last_half", "verb_swaps"):
        assert perturb(sentence, name) is None


def test_min_tokens_counts_the_whole_text_and_its_punctuation() -> None:
    text = Text((Sentence(("Go", "away", "!"), "en"),))
    assert perturb_text(text, "reversed") is None
    assert perturb_text(text, "reversed", min_tokens=3) is not None
    assert perturb_text(Text((*text.sentences, Sentence(("Now",), "en"))), "reversed") is not None


def test_a_sentence_that_cannot_be_perturbed_stays_beside_one_that_can() -> None:
    text = Text((Sentence(("No", "!"), "en"), Sentence(("Go", "away", "!"), "en")))
    orders = perturb_text(text, "reversed")
    assert orders is not None
    assert orders[0] is None
    assert text.reorder(orders) == "No ! away Go !"


def test_heads_that_run_in_a_circle_are_an_error() -> None:
    sentence = annotated("a/NOUN/0/root b/NOUN/3/compound c/NOUN/2/compound d/VERB/1/acl")
    for name in ("tree_mirror_pre", "rotate_around_root", "noun_swaps"):
        with pytest.raises(NbkitError, match="form a cycle"):
            perturb(sentence, name)
    assert perturb(sentence, "noun_swaps", unit="token") is not None


def test_no_tree_is_too_deep() -> None:
    size = 3000
    chain = Sentence(
        tuple(f"w{i}" for i in range(size)),
        "en",
        upos=("NOUN",) * size,
        heads=(-1, *range(size - 1)),
        deprels=("root", *["flat"] * (size - 1)),
    )
    orders = perturb_all(Text((chain,)))
    assert orders["tree_mirror_post"] is not None
    assert orders["tree_mirror_post"][0].tolist() == list(range(size))[::-1]
    assert orders["noun_swaps"] is None  # one long name


@pytest.mark.parametrize("size", [2, 255, 256, 257, 300])
def test_an_order_names_every_place_however_many_there_are(size: int) -> None:
    sentence = Sentence((*(f"w{i}" for i in range(size)), "."), "en")
    orders = perturb_all(Text((sentence,)), ["reversed", "word_shuffle", "shuffle_last_half"], min_tokens=1)
    assert orders["reversed"] is not None
    assert orders["reversed"][0].tolist() == [*reversed(range(size)), size]
    for arrays in orders.values():
        if arrays is not None:
            assert arrays[0].dtype == np.intp
            assert sorted(arrays[0].tolist()) == list(range(size + 1))


def test_what_is_written_into_one_order_is_not_seen_in_another() -> None:
    orders = perturb_all(Text((PLAIN,)), ["reversed", "word_shuffle"])
    assert orders["reversed"] is not None and orders["word_shuffle"] is not None
    before = orders["word_shuffle"][0].tolist()
    orders["reversed"][0][:] = 0
    assert orders["word_shuffle"][0].tolist() == before
    assert perturb(PLAIN, "reversed").tolist() == [3, 2, 1, 0, 4]


class TestOnesOwn:
    @staticmethod
    def register(function, random: bool = False) -> None:
        PERTURBATIONS.register("ends", Perturbation("ends", "random", ("swap-the-ends",), "tokens", function, random))

    def test_is_found_by_its_alias_and_keeps_the_rules(self) -> None:
        self.register(lambda view, draws: [view.length - 1, *range(1, view.length - 1), 0])
        order = perturb(PLAIN, "SwapTheEnds")
        assert order is not None
        assert PLAIN.reorder(order) == "slept said he Tom ."
        assert perturb(Sentence(("ha", "said", "ha", "."), "en"), "ends") is None
        assert label("ends") == "ends"
        assert list(perturb_all(Text((PLAIN,)), ["ends"])) == ["ends"]

    def test_that_loses_a_token_is_an_error(self) -> None:
        self.register(lambda view, draws: [0, 0, *range(2, view.length)])
        with pytest.raises(NbkitError, match=r"'ends' returned \[0, 0, 2, 3\].*not a permutation"):
            perturb(PLAIN, "ends")

    @pytest.mark.parametrize("returned", [3, ["a"], [None, 1]])
    def test_that_returns_no_order_is_an_error(self, returned) -> None:
        self.register(lambda view, draws: returned)
        with pytest.raises(NbkitError, match=r"'ends' (returned .*not a permutation|failed at .*TypeError)"):
            perturb(PLAIN, "ends")

    def test_that_raises_is_named_with_the_sentence(self) -> None:
        self.register(lambda view, draws: [1 // (view.length - view.length)])
        with pytest.raises(
            NbkitError, match=r"perturbation 'ends' failed at 'Tom said .*: ZeroDivisionError: "
        ) as caught:
            perturb_all(Text((PLAIN,)), ["reversed", "ends"])
        assert isinstance(caught.value.__cause__, ZeroDivisionError)

    @pytest.mark.parametrize(
        ("name", "category", "needs", "message"),
        [
            ("other", "random", "tokens", "'ends' has the name 'other'"),
            ("ends", "randm", "tokens", "unknown category of perturbation 'ends' 'randm'; did you mean 'random'"),
            ("ends", "random", "tokns", "unknown needs of perturbation 'ends' 'tokns'; did you mean 'tokens'"),
        ],
    )
    def test_that_does_not_fit_is_refused(self, name, category, needs, message) -> None:
        thing = Perturbation(name, category, (), needs, lambda view, draws: None)
        with pytest.raises(NbkitError, match=message):
            PERTURBATIONS.register("ends", thing)
        assert "ends" not in PERTURBATIONS
        PERTURBATIONS.register("ends", "ends_of_a_test:THING")  # a plug-in: seen when it is used
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, "ends_of_a_test", SimpleNamespace(THING=thing))
            for _ in range(2):
                with pytest.raises(NbkitError, match=message):
                    perturb(PLAIN, "ends")

    def test_that_is_none_is_refused(self) -> None:
        with pytest.raises(NbkitError, match=r"'ends' is a function; expected Perturbation\("):
            PERTURBATIONS.register("ends", lambda view, draws: None)  # type: ignore[arg-type]
        with pytest.raises(NbkitError, match="its own order"):
            PERTURBATIONS.register("control", Perturbation("control", "random", (), "tokens", lambda v, d: None))

    def test_may_draw_at_random(self) -> None:
        self.register(lambda view, draws: draws.permutation(view.length), random=True)
        orders = [perturb(PLAIN, "ends", draw=draw) for draw in range(500)]
        assert len({order.tobytes() for order in orders if order is not None}) == 23  # 4! less the sentence itself
        assert any(order is None for order in orders)
        np.testing.assert_array_equal(perturb(PLAIN, "ends", draw=1), perturb(PLAIN, "ends", draw=1))

    def test_that_draws_has_to_say_so(self) -> None:
        self.register(lambda view, draws: draws.permutation(view.length))
        with pytest.raises(NbkitError, match="random=True"):
            perturb(PLAIN, "ends")


def test_what_is_no_text_is_reported() -> None:
    with pytest.raises(NbkitError, match=r"expected a Text, found a str; parse texts first"):
        perturb_text("a string", "reversed")  # type: ignore[arg-type]
    with pytest.raises(NbkitError, match=r"expected a Sentence, found a Text; perturb_text takes"):
        perturb(Text((PLAIN,)), "reversed")  # type: ignore[arg-type]


def test_importing_it_imports_nothing_heavy() -> None:
    code = (
        "import sys, nbkit.perturb; "
        "print([m for m in ('torch', 'transformers', 'spacy', 'datasets', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
