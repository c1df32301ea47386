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
        self._fields = {field: self._field(roles) for field, roles in self.words["order"].items()}

    def _field(self, roles: list[str]) -> tuple[Callable[[Clause], tuple[Any, ...]], list[_Role]]:
        """What reads off a clause the parts that stand in a field, and for each of them its role."""
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
        """The forms of a noun from its dictionary cell."""

    @abstractmethod
    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Any:
        """The forms of a verb from its dictionary cell."""

    @abstractmethod
    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Give a noun its determiner and its adjective."""

    @abstractmethod
    def clause(self, clause: Clause, absent: Phrase | None = None) -> Node:
        """A clause; its verb agrees with *absent* where the subject stands outside of it."""

    def spell(self, nodes: list[Node]) -> None:  # noqa: B027 - most languages have nothing to do
        """Rules for neighbouring words, applied from left to right."""

    # --- sentences

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
        previous, closing = nodes[0], self.closing
        for node in nodes[1:]:
            if node.form in closing or (self.elides and previous.form[-1] == "'"):
                previous.space = False
            previous = node

    def main(self, clause: Clause) -> Node:
        """The tree of a whole sentence, without its final punctuation."""
        node = self.clause(clause)
        if clause.conjunct is not None:
            node.after.append(self.conjoined(node, clause, clause.conjunct))
        return node

    def conjoined(self, first: Node, clause: Clause, conjunct: Clause) -> Node:
        """The clause that is coordinated with *clause*, whose tree is *first*."""
        if clause.shared_subject:
            other = self.clause(replace(conjunct, subject=None), clause.subject)
        else:
            other = self.clause(conjunct)
        other.before.insert(0, Node(self.conjunction(clause), "CCONJ", "cc", (conjunct.key + MARK,)))
        if self.parts_conjuncts(clause):
            other.before.insert(0, self.comma())
        other.deprel = "conj"
        return other

    def conjunction(self, clause: Clause) -> str:
        """The word between coordinated clauses."""
        return self.words["conjunctions"][clause.conjunction]

    def parts_conjuncts(self, clause: Clause) -> bool:
        """Whether a comma stands between coordinated clauses."""
        return clause.conjunction == "but"

    # --- words

    def comma(self) -> Node:
        """A comma: it clings to the word before it."""
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
        """Every noun and name."""
        return {lexeme.id: self.decline(lexeme.cells[self.lang]) for lexeme in nominals()}

    @cached_property
    def verbs(self) -> dict[str, Any]:
        """Every verb, in the form that `conjugate` gives it."""
        return {lexeme.id: self.conjugate(*governed(lexeme, self.lang)) for lexeme in verbals()}

    def noun_of(self, phrase: Phrase) -> Noun:
        """The forms of the noun of a phrase that has one."""
        assert phrase.noun is not None
        return self.nouns[phrase.noun.id]

    def verb_of(self, clause: Clause) -> Any:
        """The forms of the verb of a clause that has one."""
        assert clause.verb is not None
        return self.verbs[clause.verb.id]

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
                root.before.append(self.comma())
        return root

    def written(self, amount: Amount) -> str:
        """The number in this language; a form that the language does not have gives way to a plainer one."""
        form = amount.form if amount.form in forms(self.lang) else _PLAINER[amount.form]
        return write_number(amount.value, self.lang, form)

    def auxiliary(self, form: str, lemma: str, key: int, tense: str = "Pres", relation: str = "aux") -> Node:
        """A finite auxiliary."""
        return Node(form, "AUX", relation, (key,), lemma, f"Tense={tense}|VerbForm=Fin")

    # --- phrases

    def is_female(self, phrase: Phrase) -> bool:
        """Whether a pronoun of the third person is *she*."""
        return phrase.female

    def pronoun(self, phrase: Phrase, among: str = "pronouns") -> Any:
        """The row of a table of pronouns (or possessives) for the person of *phrase*."""
        rows, person = self.words[among], phrase.agreement
        female = f"{person}f"
        return rows[female if female in rows and self.is_female(phrase) else str(person)]

    def pronoun_case(self, marker: str, case: int) -> int:
        """Which form of a pronoun stands in *case* after *marker*."""
        return case

    def phrase(self, phrase: Phrase, relation: str, marker: str = "", case: int | None = None) -> Node:
        """A noun phrase in *case*, with its preposition or particle, *marker*."""
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
        values = {"Case": self.cases[case], "Gender": _GENDERS[gender], "Number": "Plur" if plural else "Sing"}
        return "|".join(f"{name}={values[name]}" for name in self.noun_features)

    def govern(self, node: Node, marker: str, keys: tuple[int, ...]) -> None:
        """Put a preposition before the phrase."""
        node.before.insert(0, Node(marker, "ADP", "case", keys))

    def merge(self, node: Node, marker: str, merged: Callable[[str], str | None], keys: tuple[int, ...]) -> None:
        """Put a preposition before the phrase, in one word with its article where *merged* has such a word."""
        article = node.before[0] if node.before else None
        word = merged(article.form) if article is not None and article.tag == "article" else None
        if article is None or word is None:
            node.before.insert(0, Node(marker, "ADP", "case", keys))
        else:
            node.before[0] = Node(word, "ADP", "case", keys + article.keys, marker)

    def attach(self, node: Node, phrase: Phrase) -> None:
        """Say where the thing is, and the relative clause."""
        if phrase.place is not None:
            node.after.append(self.place(phrase.place, "nmod"))
        if phrase.relative is not None:
            node.after.append(self.relative(phrase, phrase.relative))

    def coordinate(self, node: Node, other: Phrase, relation: str, marker: str, case: int) -> Node:
        """*node* and another phrase."""
        second = self.phrase(other, "conj", self.repeated(marker), case)
        second.before.insert(0, Node(self.words["conjunctions"]["and"], "CCONJ", "cc", (other.key + MARK,)))
        node.after.append(second)
        return node

    def repeated(self, marker: str) -> str:
        """The preposition, where it is said of both of two coordinated phrases."""
        return ""

    def relative(self, phrase: Phrase, clause: Clause) -> Node:
        """A relative clause: a pronoun, and the rest of the clause."""
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
        """The clause that *opening*, the pronoun, begins."""
        node = self.clause(clause, None if phrase.relative_object else phrase)
        node.before.insert(0, opening)
        return node

    def place(self, place: Place, relation: str) -> Node:
        """A prepositional phrase of place; of several words (*next to*) the first heads the others."""
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
        """The case of a phrase of place."""
        return None

    def participant(self, role: str, phrase: Phrase) -> Node:
        """*phrase* with the relation, the marker and the case that the table ``roles`` gives its role."""
        return self.phrase(phrase, *self.words["roles"][role])

    def determiner(self, form: str, phrase: Phrase, lemma: str = "") -> Node:
        """An article or a demonstrative."""
        return Node(form, "DET", "det", (phrase.key + DET,), lemma)

    def described(self, form: str, phrase: Phrase, lemma: str = "") -> Node:
        """A phrase's adjective."""
        return Node(form, "ADJ", "amod", (phrase.key + ADJECTIVE,), lemma, "Degree=Pos")

    # --- clauses

    def prepared(self, clause: Clause) -> Clause:
        """*clause* with *want to* read as a modal where the language has an auxiliary for it."""
        return modal_of(clause) if "want" in self.words["modals"] else clause

    def fill(self, clause: Clause, field: str) -> list[Node]:
        """What *clause* says in a field of the sentence, in the order of the table ``order``."""
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
        """A clause that a conjunction begins."""
        node = self.clause(clause)
        node.deprel = relation
        node.before.insert(0, fixed(words, "mark", (key + MARK,), "SCONJ"))
        return node

    def subordinate(self, subordinate: Subordinate) -> Node:
        """An adverbial clause."""
        words = self.words["conjunctions"][subordinate.conjunction]
        return self.dependent(subordinate.clause, "advcl", words, subordinate.key)

    def infinitive(self, clause: Clause, relation: str, marker: str = "") -> Node:
        """A clause that shares its subject."""
        raise NotImplementedError

    def negation(self, clause: Clause, form: str = "") -> Node:
        """The negative particle, *form* where there is more than one."""
        upos, feats = self.negative
        return Node(form or self.words["not"], upos, "advmod", (clause.key + NEGATION,), feats=feats)

    def predicative(self, clause: Clause, quality: Lexeme) -> tuple[str, ...]:
        """An adjective as it is said of the subject, its lemma and, where it is one word, its comparative."""
        raise NotImplementedError

    def predicate(self, clause: Clause) -> Node:
        """What something is said to be or to be like, without its copula."""
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
        """What something is more so than."""
        return self.participant("than", than)

    # --- what stands in the fields of a clause, by role

    def render_please(self, clause: Clause, please: bool) -> list[Node]:
        return [fixed(self.words["please"], "discourse", (clause.key + PART,), "INTJ")]

    def render_question(self, clause: Clause, force: str) -> list[Node]:
        """The question word, with its preposition or particle."""
        if force not in self.words["question"]:
            return []
        word, upos, relation, *markers = self.words["question"][force]
        node = Node(word, upos, relation, (clause.question_key,), feats="PronType=Int")
        for marker in markers:
            self.govern(node, marker, ())
        return [node]

    def render_time(self, clause: Clause, time: Adverbial) -> list[Node]:
        return [self.adverbial(time)]

    def render_time_first(self, clause: Clause, time: Adverbial) -> list[Node]:
        return [self.adverbial(time)] if clause.time_first else []

    def render_time_late(self, clause: Clause, time: Adverbial) -> list[Node]:
        return [] if clause.time_first else [self.adverbial(time)]

    def render_frequency(self, clause: Clause, frequency: Adverbial) -> list[Node]:
        return [self.adverbial(frequency)]

    def render_frequency_word(self, clause: Clause, frequency: Adverbial) -> list[Node]:
        return [] if "phrase" in frequency.adverb.kinds else [self.adverbial(frequency)]

    def render_frequency_phrase(self, clause: Clause, frequency: Adverbial) -> list[Node]:
        return [self.adverbial(frequency)] if "phrase" in frequency.adverb.kinds else []

    def render_manner(self, clause: Clause, manner: Adverbial) -> list[Node]:
        return [self.adverbial(manner)]

    def render_subject(self, clause: Clause, subject: Phrase) -> list[Node]:
        if clause.force == "command":
            return []
        return [self.phrase(subject, "nsubj:pass" if clause.passive else "nsubj", case=NOMINATIVE)]

    def render_object(self, clause: Clause, thing: Phrase) -> list[Node]:
        """What something is done to, or by whom where the clause is passive."""
        return self.render_agent(clause, thing) if clause.passive else [self.direct_object(clause, thing)]

    def render_agent(self, clause: Clause, agent: Phrase) -> list[Node]:
        return [self.participant("agent", agent)] if clause.passive else []

    def direct_object(self, clause: Clause, thing: Phrase) -> Node:
        """An object, as the verb governs it."""
        verb = self.verb_of(clause)
        if verb.preposition:
            relation = self.governed_object
        elif thing.is_duration:
            relation = "obl"
        else:
            relation = "obj" if verb.case == self.object_case else self.other_object
        return self.phrase(thing, relation, verb.preposition, verb.case)

    def render_recipient(self, clause: Clause, recipient: Phrase) -> list[Node]:
        return [self.participant("recipient", recipient)]

    def render_goal(self, clause: Clause, goal: Phrase) -> list[Node]:
        return [self.participant("goal", goal)]

    def render_place(self, clause: Clause, place: Place) -> list[Node]:
        return [self.place(place, "obl")]

    def render_instrument(self, clause: Clause, instrument: Phrase) -> list[Node]:
        return [self.participant("instrument", instrument)]

    def render_companion(self, clause: Clause, companion: Phrase) -> list[Node]:
        return [self.participant("companion", companion)]

    def render_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        return [self.infinitive(infinitive, "xcomp")]

    def render_purpose(self, clause: Clause, purpose: Clause) -> list[Node]:
        return [self.infinitive(purpose, "advcl", self.words["purpose"])]

    def render_content(self, clause: Clause, content: Clause) -> list[Node]:
        return [self.dependent(content, "ccomp", self.words["that"], content.key)]

    def render_subordinate_first(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        return [self.subordinate(subordinate)] if subordinate.first else []

    def render_subordinate_late(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        return [] if subordinate.first else [self.subordinate(subordinate)]


def _parse_phrase(cell: str) -> tuple[list[tuple[str, str, str]], int]:
    words = []
    for word in cell.split():
        form, _, rest = word.partition("/")
        upos, _, lemma = rest.partition("/")
        words.append((form, upos or "ADV", lemma or form))
    head = next((i for i, (_, upos, _) in enumerate(words) if upos == "NOUN"), len(words) - 1)
    return words, head


def fixed(words: Sequence[str], deprel: str, keys: tuple[int, ...], upos: str) -> Node:
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


def governed(lexeme: Lexeme, lang: str) -> tuple[str, dict[str, str], list[str]]:
    """A verb's cell as (forms, options, flags): ``"warten,wartet,gewartet +auf.acc"``.

    >>> governed(table("verbs")[0], "de")[0]
    'schlafen,schläft,geschlafen'
    """
    main, *rest = lexeme.cells[lang].split()
    flags, options = features(" ".join(rest), " ") if rest else ([], {})
    return main, options, flags


def marker_of(flags: Sequence[str], default: str = "") -> str:
    """The preposition or particle that a verb's flags name.

    >>> marker_of(["sein", "+auf.acc"])
    'auf'
    """
    return next((flag[1:].partition(".")[0] for flag in flags if flag.startswith("+")), default)


def modal_of(clause: Clause) -> Clause:
    """*clause* with "want to" read as a modal of its infinitive, for languages where it is an auxiliary."""
    inner = clause.infinitive
    if clause.verb is None or clause.verb.id != "want" or inner is None:
        return clause
    kept = ("subject", "question_key", "tense", "time", "time_first", "negative", "force", "subordinate")
    return replace(inner, modal="want", modal_key=clause.key, **{name: getattr(clause, name) for name in kept})


def without_article(phrase: Phrase) -> Phrase:
    """*phrase* as it is denied: no indefinite article, which some languages say as *no*."""
    if phrase.determiner == "indefinite":
        phrase = replace(phrase, determiner="no")
    if phrase.coordinated is not None:
        phrase = replace(phrase, coordinated=without_article(phrase.coordinated))
    return phrase
