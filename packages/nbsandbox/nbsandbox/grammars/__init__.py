"""What the grammars of all languages share: words looked up, phrases and clauses put together, the end of a sentence.

A language gives its closed classes, the roles of its phrases and the order of its fields in ``data/<lang>.yaml``, and
what is rule rather than table in a separate class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from itertools import compress
from operator import attrgetter
from typing import Any, ClassVar

from nbquantities import forms, write_number
from nbsandbox.meaning import (
    ADJECTIVE,
    CASE,
    COUNT,
    DEGREE,
    DET,
    FINAL,
    MARK,
    NEGATION,
    PART,
    Adverbial,
    Amount,
    Clause,
    Lexeme,
    Node,
    Phrase,
    Place,
    Subordinate,
    data,
    nominals,
    realise,
    table,
    verbals,
)
from nbsandbox.sentences import Sentence

_GRAMMARS = {
    "en": "nbsandbox.grammars.germanic:English",
    "de": "nbsandbox.grammars.germanic:German",
    "fr": "nbsandbox.grammars.romance:French",
    "es": "nbsandbox.grammars.romance:Spanish",
    "it": "nbsandbox.grammars.romance:Italian",
    "ru": "nbsandbox.grammars.russian:Russian",
    "zh": "nbsandbox.grammars.east_asian:Chinese",
    "ja": "nbsandbox.grammars.east_asian:Japanese",
}

_GAP = "{}"

_PLAINER = {"financial": "words", "native": "digits"}

_PHRASE_RELATIONS = {"DET": "det", "ADJ": "amod", "ADP": "case", "ADV": "advmod", "PART": "mark", "NUM": "nummod"}

_GENDERS = {"": "", "m": "Masc", "f": "Fem", "n": "Neut"}

#: Of roles that are not called as the part of the clause that they say: what they say.
_PARTS = {"question": "force", "negation": "negative", "agent": "object"}

NOMINATIVE = 0

#: A role in a field: what says it, in which kinds of sentences it is said, whether commas stand before and after it.
_Role = tuple[Callable[..., list[Node]], list[str], bool, bool]


@cache
def grammar(lang: str) -> Grammar:
    """The grammar of *lang*, made on first use."""
    module, _, name = _GRAMMARS[lang].partition(":")
    return getattr(import_module(module), name)()


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun's forms in each case, and of the rest what its language has.

    gender: m, f or n; location, goal: prepositions of place and direction (or what follows a place); counter: its
    measure word; article: a definite article out of the ordinary; locative: its form after в and на.
    """

    singular: tuple[str, ...]
    plural: tuple[str, ...] = ()
    gender: str = ""
    location: str = ""
    goal: str = ""
    counter: str = ""
    article: str = ""
    locative: str = ""
    animate: bool = False


class Grammar(ABC):
    """One language's rules: meanings in, trees out. Stateless once its dictionary is read."""

    lang: str
    spaced = True
    stop, question_mark, command_mark, comma_mark = ".", "?", "!", ","
    #: Marks that cling to the word before them; whether words that end in an apostrophe cling to the next one.
    closing = frozenset(".,?!。？、，")
    elides = False
    phrase_features: ClassVar[dict[str, str]] = {"ADJ": "Degree=Pos", "NOUN": "Number=Sing"}
    #: The language's cases, and the case of a phrase whose place asks for no other one.
    cases: ClassVar[tuple[str, ...]] = ("Nom",)
    usual_case = NOMINATIVE
    #: The case of verbs' plain objects, and the relations of objects in another one and of those with a preposition.
    object_case = NOMINATIVE
    other_object, governed_object = "iobj", "obl"
    #: What a noun's features say.
    noun_features: ClassVar[tuple[str, ...]] = ("Number",)
    #: UPOS and features of the negative particle.
    negative = ("ADV", "Polarity=Neg")
    #: Whether relative clauses stand between commas.
    parts_relatives = False

    def __init__(self) -> None:
        self.words: dict[str, Any] = data(self.lang)
        self._fields = {field: self._field_reader(roles) for field, roles in self.words["order"].items()}

    def _field_reader(self, roles: list[str]) -> tuple[Callable[[Clause], tuple[Any, ...]], list[_Role]]:
        """A function that gets a field's parts from a clause, and each part's (method, forces, comma before, after)."""
        commas = self.words.get("commas", {})
        parts, roles_of_parts = [], []
        for role in roles:
            name, _, forces = role.partition(":")
            part = name.partition("_")[0]
            parts.append(_PARTS.get(part, part))
            before, after = (role in commas.get(edge, ()) for edge in ("before", "after"))
            roles_of_parts.append((getattr(self, f"render_{name}"), forces.split(), before, after))
        read = attrgetter(*parts)
        return read if len(parts) > 1 else lambda clause: (read(clause),), roles_of_parts

    # --- to be given by each language

    @abstractmethod
    def decline(self, cell: str) -> Noun:
        """The inflected forms of a noun, from its cell in the dictionary."""

    @abstractmethod
    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Any:
        """The inflected forms of a verb, from its cell in the dictionary, split by `governed`."""

    @abstractmethod
    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Add the determiner, number, owner and adjective of *phrase* to *node*, the tree of its noun."""

    @abstractmethod
    def clause(self, clause: Clause, absent: Phrase | None = None) -> Node:
        """The tree of a clause; its verb agrees with *absent* if the subject stands outside of it."""

    def spell(self, nodes: list[Node]) -> None:  # noqa: B027 - most languages have nothing to do
        """Apply spelling rules to neighbouring words, from left to right: *a* becomes *an*, *le* becomes *l'*."""

    # --- sentences

    def sentence(self, clause: Clause) -> tuple[Sentence, list[tuple[int, ...]]]:
        """The sentence that *clause* becomes, and for each token the numbers of the concepts that it expresses."""
        root = self.main(clause)
        root.deprel = "root"
        root.after.append(Node(self.mark_of(clause), "PUNCT", "punct", (FINAL,)))
        return realise(root, self.lang, self._spell_and_space, self.spaced)

    def mark_of(self, clause: Clause) -> str:
        """The final punctuation mark of a sentence."""
        if clause.force == "statement":
            return self.stop
        return self.command_mark if clause.force == "command" else self.question_mark

    def _spell_and_space(self, nodes: list[Node]) -> None:
        """Apply `spell`, and remove the space before closing marks and after an apostrophe."""
        self.spell(nodes)
        previous, closing = nodes[0], self.closing
        for node in nodes[1:]:
            if node.form in closing or (self.elides and previous.form[-1] == "'"):
                previous.space = False
            previous = node

    def main(self, clause: Clause) -> Node:
        """The tree of a whole sentence, with its coordinated clause but no final punctuation."""
        node = self.clause(clause)
        if clause.conjunct is not None:
            node.after.append(self.conjoined(node, clause, clause.conjunct))
        return node

    def conjoined(self, first: Node, clause: Clause, conjunct: Clause) -> Node:
        """The tree of *conjunct* with its conjunction, to be added to *first*, the tree of *clause*."""
        if clause.shared_subject:
            other = self.clause(replace(conjunct, subject=None), clause.subject)
        else:
            other = self.clause(conjunct)
        other.before.insert(0, Node(self.conjunction(clause), "CCONJ", "cc", (conjunct.key + MARK,)))
        if self.has_comma_before_conjunct(clause):
            other.before.insert(0, self.comma())
        other.deprel = "conj"
        return other

    def conjunction(self, clause: Clause) -> str:
        """The conjunction between coordinated clauses: *and*, *but*."""
        return self.words["conjunctions"][clause.conjunction]

    def has_comma_before_conjunct(self, clause: Clause) -> bool:
        """Whether a comma stands between coordinated clauses."""
        return clause.conjunction == "but"

    # --- words

    def comma(self) -> Node:
        """A node for a comma."""
        return Node(self.comma_mark, "PUNCT", "punct")

    def with_commas(self, node: Node, *, before: bool = False, after: bool = False) -> Node:
        """*node* with commas at the edges of its subtree."""
        if before:
            node.before.insert(0, self.comma())
        if after:
            node.after.append(self.comma())
        return node

    @cached_property
    def nouns(self) -> dict[str, Noun]:
        """The forms of every noun and name, by its id."""
        return {lexeme.id: self.decline(lexeme.cells[self.lang]) for lexeme in nominals()}

    @cached_property
    def verbs(self) -> dict[str, Any]:
        """The forms of every verb, as `conjugate` gives them, by its id."""
        return {lexeme.id: self.conjugate(*governed(lexeme, self.lang)) for lexeme in verbals()}

    def noun_of(self, phrase: Phrase) -> Noun:
        """The forms of the noun of *phrase*, which must have one."""
        assert phrase.noun is not None
        return self.nouns[phrase.noun.id]

    def verb_of(self, clause: Clause) -> Any:
        """The forms of the verb of *clause*, which must have one."""
        assert clause.verb is not None
        return self.verbs[clause.verb.id]

    @cached_property
    def adverbs(self) -> dict[str, tuple[list[tuple[str, str, str]], int]]:
        """Each adverb or adverbial phrase by its id: its words (form, UPOS, lemma) and the index of its head."""
        return {lexeme.id: _adverbial_words(lexeme.cells[self.lang]) for lexeme in table("adverbs")}

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
        """The tree of the number in *phrase*: the dictionary's word for a small number, or the number as `written`.

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
                root.before.append(self.comma())
        return root

    def written(self, amount: Amount) -> str:
        """*amount* as text in this language, in a plainer form if the language does not have its form."""
        form = amount.form if amount.form in forms(self.lang) else _PLAINER[amount.form]
        return write_number(amount.value, self.lang, form)

    def auxiliary(self, form: str, lemma: str, key: int, tense: str = "Pres", relation: str = "aux") -> Node:
        """A node for a finite auxiliary."""
        return Node(form, "AUX", relation, (key,), lemma, f"Tense={tense}|VerbForm=Fin")

    # --- phrases

    def is_female(self, phrase: Phrase) -> bool:
        """Whether the pronoun for *phrase* in the third person is *she*."""
        return phrase.female

    def pronoun(self, phrase: Phrase, among: str = "pronouns") -> Any:
        """The forms of the pronoun for *phrase*, from the table *among* (of pronouns or possessives)."""
        rows, person = self.words[among], phrase.agreement
        female = f"{person}f"
        return rows[female if female in rows and self.is_female(phrase) else str(person)]

    def pronoun_case(self, marker: str, case: int) -> int:
        """The index of a pronoun's form in *case* after the preposition or particle *marker*."""
        return case

    def phrase(self, phrase: Phrase, relation: str, marker: str = "", case: int | None = None) -> Node:
        """The tree of a noun phrase in *case*, with its preposition or particle, *marker*."""
        case = self.usual_case if case is None else case
        if phrase.noun is None:
            row = self.pronoun(phrase)
            feats = f"Case={self.cases[case]}" if "Case" in self.noun_features else ""
            form = row[self.pronoun_case(marker, case)]
            node = Node(form, "PRON", relation, (phrase.key,), row[0], feats)
        else:
            noun = self.nouns[phrase.noun.id]
            upos = "PROPN" if "name" in phrase.noun.kinds else "NOUN"
            feats = self._features(noun.gender, phrase.plural, case)
            form = (noun.plural if phrase.plural else noun.singular)[case]
            node = Node(form, upos, relation, (phrase.key,), noun.singular[0], feats)
            self.specify(node, phrase, noun, case)
        if marker:
            self.govern(node, marker, (phrase.key + CASE,))
        if phrase.place is not None or phrase.relative is not None:
            self.attach(node, phrase)
        if phrase.coordinated is not None:
            return self.coordinate(node, phrase.coordinated, relation, marker, case)
        return node

    @cache  # noqa: B019 - one grammar a language
    def _features(self, gender: str, plural: bool, case: int) -> str:
        """A noun's morphological features as in Universal Dependencies: ``Case=Nom|Number=Sing``."""
        values = {"Case": self.cases[case], "Gender": _GENDERS[gender], "Number": "Plur" if plural else "Sing"}
        return "|".join(f"{name}={values[name]}" for name in self.noun_features)

    def govern(self, node: Node, marker: str, keys: tuple[int, ...]) -> None:
        """Put the preposition *marker* before the phrase whose tree is *node*."""
        node.before.insert(0, Node(marker, "ADP", "case", keys))

    def merge(self, node: Node, marker: str, merged: Callable[[str], str | None], keys: tuple[int, ...]) -> None:
        """Put a preposition before a phrase, in one word with its article if *merged* has such a word: *zum*."""
        article = node.before[0] if node.before else None
        word = merged(article.form) if article is not None and article.tag == "article" else None
        if article is None or word is None:
            node.before.insert(0, Node(marker, "ADP", "case", keys))
        else:
            node.before[0] = Node(word, "ADP", "case", keys + article.keys, marker)

    def attach(self, node: Node, phrase: Phrase) -> None:
        """Add to *node*, a noun, its place (*the book on the table*) and its relative clause."""
        if phrase.place is not None:
            node.after.append(self.place(phrase.place, "nmod"))
        if phrase.relative is not None:
            node.after.append(self.relative(phrase, phrase.relative))

    def coordinate(self, node: Node, other: Phrase, relation: str, marker: str, case: int) -> Node:
        """The tree *node* with another phrase added by *and*."""
        second = self.phrase(other, "conj", self.repeated(marker), case)
        second.before.insert(0, Node(self.words["conjunctions"]["and"], "CCONJ", "cc", (other.key + MARK,)))
        node.after.append(second)
        return node

    def repeated(self, marker: str) -> str:
        """The preposition *marker* if it is repeated before the second of two coordinated phrases, else ""."""
        return ""

    def relative(self, phrase: Phrase, clause: Clause) -> Node:
        """The tree of a relative clause on *phrase*: its pronoun, and the rest of the clause."""
        form, lemma = self.relative_pronoun(phrase)
        relation = "obj" if phrase.relative_object else "nsubj"
        opening = Node(form, "PRON", relation, (clause.key + MARK,), lemma, "PronType=Rel")
        node = self.relative_clause(phrase, clause, opening)
        node.deprel = "acl:relcl"
        return self.with_commas(node, before=self.parts_relatives, after=self.parts_relatives)

    def relative_pronoun(self, phrase: Phrase) -> tuple[str, str]:
        """Form and lemma of the relative pronoun for *phrase*."""
        (word,) = self.words["that"]
        return word, word

    def relative_clause(self, phrase: Phrase, clause: Clause, opening: Node) -> Node:
        """The tree of the relative clause that *opening*, its pronoun, begins."""
        node = self.clause(clause, None if phrase.relative_object else phrase)
        node.before.insert(0, opening)
        return node

    def place(self, place: Place, relation: str) -> Node:
        """The tree of a phrase of place; of a preposition of several words (*next to*) the first heads the others."""
        ground = place.ground
        case = self.place_case(place)
        if place.relation == "at":
            return self.phrase(ground, relation, self.noun_of(ground).location, case)
        words = self.words["relations"][place.relation]
        node = self.phrase(ground, relation, words[-1], case)
        if len(words) > 1:
            last = node.before.pop(0)
            last.deprel = "fixed"
            root = fixed(words[:-1], "case", (ground.key + CASE,), self.words.get("relation_upos", "ADP"))
            root.after.append(last)
            node.before.insert(0, root)
        return node

    def place_case(self, place: Place) -> int | None:
        """The case (index) of a phrase of place; None for the language's usual case."""
        return None

    def participant(self, role: str, phrase: Phrase) -> Node:
        """The tree of *phrase* with the relation, marker and case that the table ``roles`` gives for *role*."""
        return self.phrase(phrase, *self.words["roles"][role])

    def determiner(self, form: str, phrase: Phrase, lemma: str = "") -> Node:
        """A node for an article or a demonstrative."""
        return Node(form, "DET", "det", (phrase.key + DET,), lemma)

    def adjective_node(self, form: str, phrase: Phrase, lemma: str = "") -> Node:
        """A node for the adjective of *phrase*."""
        return Node(form, "ADJ", "amod", (phrase.key + ADJECTIVE,), lemma, "Degree=Pos")

    # --- clauses

    def with_modal_want(self, clause: Clause) -> Clause:
        """*clause* with *want to* as a modal if the language has an auxiliary for it."""
        return with_want_as_modal(clause) if "want" in self.words["modals"] else clause

    def fill(self, clause: Clause, field: str) -> list[Node]:
        """The nodes of what *clause* has in *field*, a part of the sentence, in the order of the table ``order``."""
        nodes: list[Node] = []
        read, roles = self._fields[field]
        parts = read(clause)
        for part, (render, forces, before, after) in compress(zip(parts, roles, strict=True), parts):
            if not forces or clause.force in forces:
                found = render(clause, part)
                if before or after:
                    found = [self.with_commas(node, before=before, after=after) for node in found]
                nodes += found
        return nodes

    def dependent(self, clause: Clause, relation: str, words: Sequence[str], key: int) -> Node:
        """The tree of a clause that begins with the conjunction *words*."""
        node = self.clause(clause)
        node.deprel = relation
        node.before.insert(0, fixed(words, "mark", (key + MARK,), "SCONJ"))
        return node

    def subordinate(self, subordinate: Subordinate) -> Node:
        """The tree of an adverbial clause: *because she was tired*."""
        words = self.words["conjunctions"][subordinate.conjunction]
        return self.dependent(subordinate.clause, "advcl", words, subordinate.key)

    def infinitive(self, clause: Clause, relation: str, marker: str = "") -> Node:
        """The tree of an infinitive clause, whose subject is that of the main clause."""
        raise NotImplementedError

    def negation(self, clause: Clause, form: str = "") -> Node:
        """A node for the negative particle: *form* if the language has several."""
        upos, feats = self.negative
        return Node(form or self.words["not"], upos, "advmod", (clause.key + NEGATION,), feats=feats)

    def predicative(self, clause: Clause, quality: Lexeme) -> tuple[str, ...]:
        """An adjective as predicate: its form for the subject, its lemma and, if one word, its comparative."""
        raise NotImplementedError

    def predicate(self, clause: Clause) -> Node:
        """The tree of what the subject is, a noun or an adjective, without its copula."""
        if clause.class_ is not None:
            return self.phrase(clause.class_, "root")
        assert clause.quality is not None
        form, lemma, *rest = self.predicative(clause, clause.quality)
        key, comparative = clause.key, rest[0] if rest else ""
        if clause.than is not None and comparative:
            head = Node(comparative, "ADJ", "root", (key, key + DEGREE), lemma, "Degree=Cmp")
        else:
            head = Node(form, "ADJ", "root", (key,), lemma, "Degree=Pos")
            if clause.than is not None or clause.very:
                word = self.words["very" if clause.than is None else "more"]
                head.before.append(Node(word, "ADV", "advmod", (key + DEGREE,)))
        if clause.than is not None:
            head.after.append(self.compared(clause.than))
        return head

    def compared(self, than: Phrase) -> Node:
        """The tree of what the subject is compared with: *than the bus*."""
        return self.participant("than", than)

    # --- what stands in the fields of a clause, by role

    def render_please(self, clause: Clause, please: bool) -> list[Node]:
        """The word for *please*."""
        return [fixed(self.words["please"], "discourse", (clause.key + PART,), "INTJ")]

    def render_question(self, clause: Clause, force: str) -> list[Node]:
        """The question word, with its preposition or particle; empty for questions without one."""
        if force not in self.words["question"]:
            return []
        word, upos, relation, *markers = self.words["question"][force]
        node = Node(word, upos, relation, (clause.question_key,), feats="PronType=Int")
        for marker in markers:
            self.govern(node, marker, ())
        return [node]

    def render_time(self, clause: Clause, time: Adverbial) -> list[Node]:
        """The adverbial of time."""
        return [self.adverbial(time)]

    def render_time_first(self, clause: Clause, time: Adverbial) -> list[Node]:
        """The adverbial of time if it comes first in the sentence."""
        return [self.adverbial(time)] if clause.time_first else []

    def render_time_late(self, clause: Clause, time: Adverbial) -> list[Node]:
        """The adverbial of time unless it comes first in the sentence."""
        return [] if clause.time_first else [self.adverbial(time)]

    def render_frequency(self, clause: Clause, frequency: Adverbial) -> list[Node]:
        """The adverbial of frequency: *often*, *every day*."""
        return [self.adverbial(frequency)]

    def render_frequency_word(self, clause: Clause, frequency: Adverbial) -> list[Node]:
        """The adverbial of frequency if it is one word: *often*."""
        return [] if "phrase" in frequency.adverb.kinds else [self.adverbial(frequency)]

    def render_frequency_phrase(self, clause: Clause, frequency: Adverbial) -> list[Node]:
        """The adverbial of frequency if it is a phrase: *every day*."""
        return [self.adverbial(frequency)] if "phrase" in frequency.adverb.kinds else []

    def render_manner(self, clause: Clause, manner: Adverbial) -> list[Node]:
        """The adverb of manner."""
        return [self.adverbial(manner)]

    def render_subject(self, clause: Clause, subject: Phrase) -> list[Node]:
        """The subject; empty for a command."""
        if clause.force == "command":
            return []
        return [self.phrase(subject, "nsubj:pass" if clause.passive else "nsubj", case=NOMINATIVE)]

    def render_object(self, clause: Clause, thing: Phrase) -> list[Node]:
        """What stands in the object's place: the direct object, or in the passive *thing* as its agent."""
        return self.render_agent(clause, thing) if clause.passive else [self.direct_object(clause, thing)]

    def render_agent(self, clause: Clause, agent: Phrase) -> list[Node]:
        """The agent of a passive: *by the teacher*."""
        return [self.participant("agent", agent)] if clause.passive else []

    def direct_object(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of the direct object, with the preposition and the case that the verb governs."""
        verb = self.verb_of(clause)
        if verb.preposition:
            relation = self.governed_object
        elif thing.is_duration:
            relation = "obl"
        else:
            relation = "obj" if verb.case == self.object_case else self.other_object
        return self.phrase(thing, relation, verb.preposition, verb.case)

    def render_recipient(self, clause: Clause, recipient: Phrase) -> list[Node]:
        """The recipient: *to the teacher*."""
        return [self.participant("recipient", recipient)]

    def render_goal(self, clause: Clause, goal: Phrase) -> list[Node]:
        """The goal of a movement: *to the park*."""
        return [self.participant("goal", goal)]

    def render_place(self, clause: Clause, place: Place) -> list[Node]:
        """The phrase of place."""
        return [self.place(place, "obl")]

    def render_instrument(self, clause: Clause, instrument: Phrase) -> list[Node]:
        """The instrument: *with a knife*."""
        return [self.participant("instrument", instrument)]

    def render_companion(self, clause: Clause, companion: Phrase) -> list[Node]:
        """The companion: *with a friend*."""
        return [self.participant("companion", companion)]

    def render_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        """The infinitive clause that completes the verb: *wants to read a book*."""
        return [self.infinitive(infinitive, "xcomp")]

    def render_purpose(self, clause: Clause, purpose: Clause) -> list[Node]:
        """The clause of purpose: *in order to read a book*."""
        return [self.infinitive(purpose, "advcl", self.words["purpose"])]

    def render_content(self, clause: Clause, content: Clause) -> list[Node]:
        """The clause that someone says or thinks: *that Anna read the letter*."""
        return [self.dependent(content, "ccomp", self.words["that"], content.key)]

    def render_subordinate_first(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        """The adverbial clause if it comes first in the sentence."""
        return [self.subordinate(subordinate)] if subordinate.first else []

    def render_subordinate_late(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        """The adverbial clause unless it comes first in the sentence."""
        return [] if subordinate.first else [self.subordinate(subordinate)]


def _adverbial_words(cell: str) -> tuple[list[tuple[str, str, str]], int]:
    """The words (form, UPOS, lemma) of an adverbial phrase from its dictionary cell, and the index of its head."""
    words = []
    for word in cell.split():
        form, _, rest = word.partition("/")
        upos, _, lemma = rest.partition("/")
        words.append((form, upos or "ADV", lemma or form))
    head = next((i for i, (_, upos, _) in enumerate(words) if upos == "NOUN"), len(words) - 1)
    return words, head


def fixed(words: Sequence[str], deprel: str, keys: tuple[int, ...], upos: str) -> Node:
    """The tree of a fixed expression such as *next to*: the first word heads the others."""
    root = Node(words[0], upos, deprel, keys)
    root.after = [Node(word, upos, "fixed", keys) for word in words[1:]]
    return root


def split_cell(cell: str, separator: str = ",") -> tuple[list[str], dict[str, str]]:
    """Split a dictionary cell into its positional parts and its ``key=value`` parts.

    >>> split_cell("m,Park,Parks,gen=Parks")
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


def governed(lexeme: Lexeme, lang: str) -> tuple[str, dict[str, str], list[str]]:
    """A verb's dictionary cell split into (forms, options, flags), as of ``"warten,wartet,gewartet +auf.acc"``.

    >>> governed(table("verbs")[0], "de")[0]
    'schlafen,schläft,geschlafen'
    """
    main, *rest = lexeme.cells[lang].split()
    flags, options = split_cell(" ".join(rest), " ") if rest else ([], {})
    return main, options, flags


def marker_of(flags: Sequence[str], default: str = "") -> str:
    """The preposition or particle among a verb's flags; *default* if there is none.

    >>> marker_of(["sein", "+auf.acc"])
    'auf'
    """
    return next((flag[1:].partition(".")[0] for flag in flags if flag.startswith("+")), default)


def with_want_as_modal(clause: Clause) -> Clause:
    """*clause* with "want to" as a modal of its infinitive, for languages that have an auxiliary for it."""
    inner = clause.infinitive
    if clause.verb is None or clause.verb.id != "want" or inner is None:
        return clause
    kept = ("subject", "question_key", "tense", "time", "time_first", "negative", "force", "subordinate")
    return replace(inner, modal="want", modal_key=clause.key, **{name: getattr(clause, name) for name in kept})


def without_article(phrase: Phrase) -> Phrase:
    """*phrase* as object of a negation: its indefinite article becomes the determiner "no"."""
    if phrase.determiner == "indefinite":
        phrase = replace(phrase, determiner="no")
    if phrase.coordinated is not None:
        phrase = replace(phrase, coordinated=without_article(phrase.coordinated))
    return phrase
