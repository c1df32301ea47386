"""What the grammars of all languages share: looking words up, adverbial phrases, the end of a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from nbkit.sandbox.meaning import (
    COUNT,
    FINAL,
    Adverbial,
    Amount,
    Clause,
    Lexeme,
    Node,
    Phrase,
    comma,
    function_words,
    realise,
    table,
)
from nbkit.text.sentences import Sentence

_CLOSING = frozenset(".,?!。？、，")


_GAP = "{}"


_PLAINER = {"financial": "words", "native": "digits"}


_PHRASE_RELATIONS = {"DET": "det", "ADJ": "amod", "ADP": "case", "ADV": "advmod", "PART": "mark", "NUM": "nummod"}


class Grammar(ABC):
    """One language's rules: meanings in, trees out. Stateless once its dictionary is read."""

    lang: str
    spaced = True
    #: Whether a percent sign clings to its number.
    percent_clings = False
    stop = "."
    question_mark = "?"
    command_mark = "!"
    phrase_features: ClassVar[dict[str, str]] = {"ADJ": "Degree=Pos", "NOUN": "Number=Sing"}

    def __init__(self) -> None:
        self.words: dict[str, Any] = function_words(self.lang)

    # --- to be given by each language

    @abstractmethod
    def main(self, clause: Clause) -> Node:
        """The tree of a whole sentence, without its final punctuation."""

    def spell(self, nodes: list[Node]) -> None:  # noqa: B027 - most languages have nothing to do
        """Rules for neighbouring words, applied from left to right."""

    # --- shared

    def sentence(self, clause: Clause) -> tuple[Sentence, list[tuple[int, ...]]]:
        """The realised sentence and the addresses of its tokens."""
        root = self.main(clause)
        root.deprel = "root"
        root.after.append(Node(self.mark_of(clause), "PUNCT", "punct", (FINAL,)))
        return realise(root, self.lang, self._spell_and_space, self.spaced)

    def mark_of(self, clause: Clause) -> str:
        """The final punctuation mark."""
        if clause.force == "statement":
            return self.stop
        return self.command_mark if clause.force == "command" else self.question_mark

    def _spell_and_space(self, nodes: list[Node]) -> None:
        self.spell(nodes)
        previous = nodes[0]
        for node in nodes[1:]:
            if node.form in _CLOSING and not (self.lang == "fr" and node.form in "?!"):
                previous.space = False
            if node.form == "%" and self.percent_clings:
                previous.space = False
            previous = node

    @cached_property
    def adverbs(self) -> dict[str, tuple[list[tuple[str, str, str]], int]]:
        """Words (form, UPOS, lemma) of each adverb or adverbial phrase, and the index of its head."""
        return {lexeme.id: _parse_phrase(lexeme.cells[self.lang]) for lexeme in table("adverbs")}

    def adverbial(self, adverbial: Adverbial) -> Node:
        """The tree of an adverb or a fixed adverbial phrase."""
        words, head = self.adverbs[adverbial.adverb.id]
        nodes = [
            Node(
                str(adverbial.number) if form == _GAP else form,
                upos,
                _PHRASE_RELATIONS.get(upos, "obl"),
                (adverbial.key,),
                lemma,
                self.phrase_features.get(upos, ""),
            )
            for form, upos, lemma in words
        ]
        root = nodes[head]
        if root.upos == "NUM":
            root.deprel = "obl"
        root.before, root.after = nodes[:head], nodes[head + 1 :]
        return root

    def numeral(self, phrase: Phrase) -> Node:
        """What says how many: the dictionary's word for a small number, or a number written by rule.

        A number of several words is headed by the last of them: *1.2 million*.
        """
        keys = (phrase.key + COUNT,)
        if phrase.amount is None:
            return Node(self.words["numerals"][phrase.count], "NUM", "nummod", keys)
        *words, last = self.written(phrase.amount).split(" ")
        root = Node(last, "NUM", "nummod", keys)
        for word in words:
            root.before.append(Node(word.rstrip(","), "NUM", "compound", keys))
            if word.endswith(","):  # twelve thousand, three hundred
                root.before.append(comma())
        return root

    def written(self, amount: Amount) -> str:
        """The number in this language; a form that the language has not got gives way to a plainer one."""
        from nbkit.numbers import forms, write_number  # its libraries are loaded where numbers are written

        form = amount.form if amount.form in forms(self.lang) else _PLAINER[amount.form]
        return write_number(amount.value, self.lang, form)

    def with_commas(self, node: Node, *, before: bool = False, after: bool = False) -> Node:
        """*node* with commas at the edges of its subtree."""
        if before:
            node.before.insert(0, comma())
        if after:
            node.after.append(comma())
        return node


def _parse_phrase(cell: str) -> tuple[list[tuple[str, str, str]], int]:
    words = []
    for word in cell.split():
        form, _, rest = word.partition("/")
        upos, _, lemma = rest.partition("/")
        words.append((form, upos or "ADV", lemma or form))
    head = next((i for i, (_, upos, _) in enumerate(words) if upos == "NOUN"), len(words) - 1)
    return words, head


def fixed(words: list[str], deprel: str, keys: tuple[int, ...], upos: str = "ADP") -> Node:
    """A fixed expression such as *next to*: the first word heads the others."""
    root = Node(words[0], upos, deprel, keys)
    root.after = [Node(word, upos, "fixed", keys) for word in words[1:]]
    return root


def features(cell: str, separator: str = ",") -> tuple[list[str], dict[str, str]]:
    """The positional parts of a dictionary cell and its ``key=value`` parts.

    >>> features("m,Park,Parks,gen=Parks")
    (['m', 'Park', 'Parks'], {'gen': 'Parks'})
    """
    forms, options = [], {}
    for part in cell.split(separator):
        name, equals, value = part.partition("=")
        if equals:
            options[name] = value
        else:
            forms.append(part)
    return forms, options


def modal_of(clause: Clause) -> Clause:
    """*clause* with "want to" read as a modal of its infinitive, for languages where it is an auxiliary."""
    inner = clause.infinitive
    if clause.verb is None or clause.verb.id != "want" or inner is None:
        return clause
    return replace(
        inner,
        subject=clause.subject,
        modal="want",
        modal_key=clause.key,
        question_key=clause.question_key,
        tense=clause.tense,
        time=clause.time,
        time_first=clause.time_first,
        negative=clause.negative,
        force=clause.force,
        subordinate=clause.subordinate,
    )


def governed(lexeme: Lexeme, lang: str) -> tuple[str, dict[str, str], list[str]]:
    """A verb's cell as (forms, options, flags): ``"warten,wartet,gewartet +auf.acc"``.

    >>> governed(table("verbs")[0], "de")[0]
    'schlafen,schläft,geschlafen'
    """
    main, *rest = lexeme.cells[lang].split()
    flags, options = features(" ".join(rest), " ") if rest else ([], {})
    return main, options, flags


def conjuncts(phrase: Phrase) -> list[Phrase]:
    """The phrase itself and what is coordinated with it."""
    return [phrase] if phrase.coordinated is None else [phrase, phrase.coordinated]
