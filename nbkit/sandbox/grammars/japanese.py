"""Japanese: verb forms as chains of tokens, cut as the Universal Dependencies treebanks cut them, and particles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from nbkit.sandbox.grammars import Grammar, Noun, marker_of
from nbkit.sandbox.meaning import (
    AUX,
    CASE,
    COUNT,
    DEGREE,
    FIRST,
    MARK,
    MODAL,
    NEGATION,
    PART,
    SECOND,
    THIRD,
    WE,
    Clause,
    Node,
    Phrase,
    Place,
    Subordinate,
)

_ROWS = {
    "う": "わいえお",
    "く": "かきけこ",
    "ぐ": "がぎげご",
    "す": "さしせそ",
    "つ": "たちてと",
    "ぬ": "なにねの",
    "ぶ": "ばびべぼ",
    "む": "まみめも",
    "る": "らりれろ",
}


_TE = {"う": "っ", "つ": "っ", "る": "っ", "く": "い", "ぐ": "い", "す": "し", "ぬ": "ん", "ぶ": "ん", "む": "ん"}


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb's stems, the particle of its object, and what links it to a complement clause.

    *light* is する after a noun (翻訳 する), which then carries the inflection.
    """

    plain: str
    masu: str
    nai: str
    te: str
    voiced: bool
    volitional: str
    passive: str
    light: str
    particle: str = "を"
    link: str = ""

    @property
    def lemma(self) -> str:
        return self.light + self.plain


def stems(cell: str) -> Verb:
    """The stems of a verb: 読む5 (five-grade), 食べる1 (one-grade), 翻訳する, 来る.

    >>> verb = stems("読む5")
    >>> verb.masu, verb.nai, verb.te, verb.voiced, verb.passive
    ('読み', '読ま', '読ん', True, '読まれ')
    """
    if cell.endswith("する"):
        return Verb("する", "し", "し", "し", False, "しよう", "され", cell[:-2])
    if cell == "来る":
        return Verb("来る", "来", "来", "来", False, "来よう", "来られ", "")
    word, grade = cell[:-1], cell[-1]
    stem, last = word[:-1], word[-1]
    if grade == "1":
        return Verb(word, stem, stem, stem, False, stem + "よう", stem + "られ", "")
    a, i, o = _ROWS[last][0], _ROWS[last][1], _ROWS[last][3]
    te = stem + ("っ" if word == "行く" else _TE[last])
    return Verb(word, stem + i, stem + a, te, last in "ぐぬぶむ", f"{stem}{o}う", f"{stem}{a}れ", "")


#: A form of a verb: its stem, and what follows that (see `tokens`).
Chain = tuple[str, str]


_RELATIONS = {"AUX": "aux", "SCONJ": "mark", "ADP": "case"}


def tokens(chain: str) -> list[Node]:
    """The tokens of a chain of endings, each written as form/lemma/UPOS; the last two may be omitted.

    >>> [(node.form, node.lemma, node.upos) for node in tokens("まし/ます た")]
    [('まし', 'ます', 'AUX'), ('た', 'た', 'AUX')]
    """
    nodes = []
    for token in chain.split():
        form, lemma, upos = (*token.split("/"), "", "")[:3]
        nodes.append(Node(form, upos or "AUX", _RELATIONS[upos or "AUX"], (), lemma))
    return nodes


def te_form(verb: Verb) -> Chain:
    """読ん で."""
    return verb.te, "で/て/SCONJ" if verb.voiced else "て/て/SCONJ"


def dictionary_form(verb: Verb) -> Chain:
    """読む."""
    return verb.plain, ""


class Japanese(Grammar):
    lang = "ja"
    spaced = False
    stop, question_mark, command_mark, comma_mark = "。", "？", "。", "、"
    phrase_features: ClassVar[dict[str, str]] = {}
    noun_features: ClassVar[tuple[str, ...]] = ()

    def decline(self, cell: str) -> Noun:
        """Word and counter of a noun."""
        word, _, counter = cell.partition("/")
        return Noun((word,), (word,), counter=counter)

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        link = next((flag for flag in flags if not flag.startswith("+")), "")
        return replace(stems("する" if cell == "たい" else cell), particle=marker_of(flags, "を"), link=link)

    # --- phrases

    def phrase(self, phrase: Phrase, relation: str, marker: str = "", case: int | None = None) -> Node:
        """A noun phrase with its particle, which stands after the last of coordinated phrases."""
        if phrase.coordinated is None:
            return super().phrase(phrase, relation, marker, case)
        first = super().phrase(replace(phrase, coordinated=None), "nmod")
        self.govern(first, "と", (phrase.coordinated.key + MARK,))
        node = self.phrase(phrase.coordinated, relation)
        node.before.insert(0, first)
        if marker:
            self.govern(node, marker, (phrase.key + CASE,))
        return node

    def govern(self, node: Node, marker: str, keys: tuple[int, ...] = ()) -> None:
        """Put a particle after the phrase."""
        node.after.append(Node(marker, "ADP", "case", keys))

    def attach(self, node: Node, phrase: Phrase) -> None:
        """All that is said of a thing stands before it; see `specify`."""

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        before, owner = node.before, phrase.possessor
        if phrase.relative is not None:
            relative = self.clause(phrase.relative, is_polite=False)
            relative.deprel = "acl:relcl"
            before.append(relative)
        if phrase.place is not None:
            before.append(self.place(phrase.place, "nmod", "の"))
        match phrase.determiner:
            case "this" | "that":
                before.append(self.determiner("この" if phrase.determiner == "this" else "あの", phrase))
            case "count":
                number = self.numeral(phrase)
                if not phrase.is_measure:
                    counter = noun.counter
                    if phrase.amount is not None:
                        counter = self.words["general_counters"].get(counter, counter)
                    number.after.append(Node(counter, "NOUN", "clf", (phrase.key + COUNT,)))
                    self.govern(number, "の")
                before.append(number)
            case "many":
                many = self.determiner("たくさん", phrase)
                many.upos, many.deprel = "NOUN", "nmod"
                self.govern(many, "の")
                before.append(many)
            case "own" if owner is not None:
                if phrase.reflexive:
                    before.append(Node("自分", "PRON", "nmod", (owner.key,)))
                    self.govern(before[-1], "の", (owner.key + CASE,))
                else:
                    before.append(self.phrase(owner, "nmod", "の"))
        if phrase.adjective is not None:
            word, _, suffix = phrase.adjective.cells["ja"].partition("+")
            adjective = self.described(word, phrase)
            if suffix == "な":
                adjective.after.append(Node("な", "AUX", "cop", (), "だ"))
            elif suffix:
                self.govern(adjective, suffix)
            before.append(adjective)

    def place(self, place: Place, relation: str, particle: str = "で") -> Node:
        """公園 で; テーブル の 上 に."""
        ground = place.ground
        if place.relation == "at":
            return self.phrase(ground, relation, particle)
        side = Node(self.words["relations"][place.relation], "NOUN", relation, (ground.key + CASE,))
        side.before.append(self.phrase(ground, "nmod", "の"))
        self.govern(side, particle)
        return side

    # --- the verb

    def chain(self, clause: Clause, verb: Verb, is_polite: bool) -> Chain:
        """The verb's form in this clause."""
        assert clause.verb is not None
        past, negative, ending = clause.tense == "past", clause.negative, self.words["endings"]
        cell = past + 2 * negative
        polite, (te, going) = ending["polite"][cell], te_form(verb)
        d = "だ" if verb.voiced else "た"
        if clause.force == "command":
            return (te, going + " ください/くださる") if clause.please else (verb.masu, "なさい/なさる")
        if clause.modal == "can":
            able = f"でき/できる {polite}" if is_polite else ending["dekiru"][cell]
            return verb.plain, f"こと/こと/SCONJ が/が/ADP {able}"
        if clause.modal == "must":
            return verb.nai, ending["must"]
        if clause.modal == "want":
            agreement = clause.subject.agreement if clause.subject is not None else THIRD
            own = agreement in (FIRST, SECOND, WE)
            return verb.masu, f"{ending['tai'][cell]} です" if own else f"{ending['others_want']} {polite}"
        if clause.passive:
            suffix = "られ" if verb.passive.endswith("られ") and not verb.nai.endswith("ら") else "れ"
            return verb.passive.removesuffix(suffix), f"{suffix}/{suffix}る {ending['polite'][1]}"
        if clause.tense == "condition":
            return te, f"{d}ら/た"
        lasting = clause.tense == "progressive" or (clause.tense == "present" and clause.content is not None)
        lasting = lasting or bool(clause.verb.kinds & {"st", "present"})
        if lasting and not (negative and clause.verb.id == "know"):
            return te, f"{going} " + (f"い/いる {polite}" if is_polite else ending["iru"][cell])
        if is_polite:
            return verb.masu, polite
        if negative:
            return verb.nai, ending["nai"][past]
        return (te, f"{d}/た") if past else dictionary_form(verb)

    def head_of(self, clause: Clause, verb: Verb, chain: Chain) -> Node:
        """The verb with its endings, which say tense, negation and modality."""
        stem, endings = chain
        head = Node(stem, "VERB", "root", (clause.key,), verb.lemma)
        if verb.light:
            head.form = head.lemma = verb.light
            head.after.append(Node(stem, "AUX", "aux", (clause.key,), "する"))
        head.after += tokens(endings)
        for ending in head.after:
            if clause.modal == "must":
                ending.keys = (clause.key + MODAL,)
            elif ending.lemma == "ない" and clause.negative:
                ending.keys = (clause.key + NEGATION,)
            elif ending.lemma in ("できる", "たい", "たがる", "なる", "こと"):
                ending.keys = (clause.modal_key or clause.key + MODAL,)
            elif ending.lemma == "くださる":
                ending.keys = (clause.key + PART,)
            elif ending.upos == "AUX" and not ending.keys:
                ending.keys = (clause.key + AUX,)
        return head

    # --- clauses

    def main(self, clause: Clause) -> Node:
        if clause.conjunct is not None:
            return self._coordinated(clause, clause.conjunct)
        node = self.clause(clause)
        if clause.force not in ("statement", "command"):
            node.after.append(Node("か", "PART", "mark", (clause.key + PART,)))
        return node

    def _coordinated(self, clause: Clause, conjunct: Clause) -> Node:
        verb = self.verb_of(clause)
        alone = replace(clause, conjunct=None)
        if clause.shared_subject:
            first = self.clause(alone, chain=te_form(verb))
            conjunct = replace(conjunct, subject=None)
        elif clause.conjunction == "and":
            first = self.clause(alone, chain=(verb.masu, ""))
        else:
            first = self.clause(alone)
            first.after.append(Node("が", "SCONJ", "mark", (conjunct.key + MARK,)))
        first.deprel = "advcl"
        node = self.clause(conjunct)
        node.before.insert(0, self.with_commas(first, after=True))
        return node

    def clause(
        self, clause: Clause, absent: Phrase | None = None, is_polite: bool = True, chain: Chain | None = None
    ) -> Node:
        """A clause, polite where it is a main one; its verb is in *chain*'s form where that is given."""
        clause = self.prepared(clause)
        if clause.existing is not None:
            return self._existential(clause, clause.existing)
        if clause.verb is None:
            return self._copular(clause, is_polite)
        verb = self.verb_of(clause)
        head = self.head_of(clause, verb, chain or self.chain(clause, verb, is_polite))
        head.before = [
            *self.fill(clause, "opening"),
            *self._subject(clause, is_polite),
            *self.fill(clause, "before_verb"),
        ]
        return head

    def _subject(self, clause: Clause, is_polite: bool) -> list[Node]:
        subject = clause.subject
        if clause.force == "command" or subject is None or (subject.antecedent is not None and subject.noun is None):
            return []
        return [self.phrase(subject, "nsubj", "は" if is_polite else "が")]

    def say_purpose(self, clause: Clause, purpose: Clause) -> list[Node]:
        node = self._complement(purpose, "advcl", dictionary_form)
        keys = (purpose.key + MARK,)
        node.after.append(Node("ため", "NOUN", "mark", keys))
        self.govern(node, "に", keys)
        return [node]

    def say_object(self, clause: Clause, thing: Phrase) -> list[Node]:
        if clause.passive:
            return self.say_agent(clause, thing)
        particle = self._verb_of(clause).particle
        if thing.is_measure and particle == "を":
            return [self.phrase(thing, "obl")]  # 100 ユーロ 払う
        return [self.phrase(thing, "obj" if particle == "を" else "obl", particle)]

    def say_goal(self, clause: Clause, goal: Phrase) -> list[Node]:
        particle = self._verb_of(clause).particle
        return [self.phrase(goal, "obl", "に" if particle == "を" else particle)]

    def say_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        """What one tries, begins, decides: each verb links it in its own way."""
        link = self._verb_of(clause).link
        if link == "masu":
            return [self._complement(infinitive, "xcomp", lambda verb: (verb.masu, ""))]
        if link == "よう":
            node = self._complement(infinitive, "xcomp", lambda verb: (verb.volitional, ""))
            return [self._linked(node, "と", infinitive)]
        return [self._linked(self._complement(infinitive, "xcomp", dictionary_form), link, infinitive)]

    def say_content(self, clause: Clause, content: Clause) -> list[Node]:
        tense = content.tense
        if content.modal and tense == "past":
            tense = "present"  # Japanese keeps the tense of what was said
        node = self.clause(replace(content, time_first=False, tense=tense), is_polite=False)
        node.deprel = "ccomp"
        return [self._linked(node, self._verb_of(clause).link, content)]

    def _verb_of(self, clause: Clause) -> Verb:
        return self.verb_of(clause)

    def _complement(self, clause: Clause, relation: str, form: Callable[[Verb], Chain]) -> Node:
        node = self.clause(clause, is_polite=False, chain=form(self._verb_of(clause)))
        node.deprel = relation
        return node

    def _linked(self, node: Node, link: str, clause: Clause) -> Node:
        """*node*, the tree of *clause*, with と, or with a noun such as こと as an object."""
        keys = (clause.key + MARK,)
        if link != "と":
            node.after.append(Node(link, "SCONJ", "mark", keys))
        self.govern(node, "と" if link == "と" else "を", keys)
        return node

    def say_subordinate(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        node = self.clause(subordinate.clause, is_polite=False)
        node.deprel = "advcl"
        keys = (subordinate.key + MARK,)
        if subordinate.conjunction == "if":
            node.before.insert(0, Node("もし", "ADV", "advmod", keys))
        else:
            word, upos = self.words["conjunctions"][subordinate.conjunction]
            node.after.append(Node(word, upos, "mark", keys))
        return [node]

    def _copular(self, clause: Clause, is_polite: bool) -> Node:
        key, before = (clause.key + AUX,), self._subject(clause, is_polite)
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root")
            head.before[:0] = before
            # 負担であること
            copula = [("です", "だ", "cop")] if is_polite else [("で", "だ", "cop"), ("ある", "ある", "aux")]
            head.after += [Node(form, "AUX", relation, key, lemma) for form, lemma, relation in copula]
            return head
        assert clause.quality is not None
        word, _, suffix = clause.quality.cells["ja"].partition("+")
        if clause.than is not None:
            than = self.participant("than", clause.than)
            than.after[-1].keys += (clause.key + DEGREE,)
            before.append(than)
        if clause.very:
            before.append(Node("とても", "ADV", "advmod", (clause.key + DEGREE,)))
        past, negative, ending = clause.tense == "past", clause.negative, self.words["endings"]
        cell, stem = past + 2 * negative, word
        if suffix:  # 静か
            endings = ending["copula"][cell] if is_polite or negative else "だっ/だ た"
        else:  # 大きい
            endings = ending["adjective"][cell] + (" です" if is_polite else "")
            if past or negative:
                stem = word[:-1] + ("く" if negative else "かっ")
        head = Node(stem, "ADJ", "root", (clause.key,), word, "Degree=Pos")
        head.before = before
        for node in tokens(endings):
            if suffix and node.lemma in ("だ", "です"):
                node.deprel = "cop"
            node.keys = (clause.key + NEGATION,) if node.lemma == "ない" and negative else key
            head.after.append(node)
        return head

    def _existential(self, clause: Clause, thing: Phrase) -> Node:
        assert clause.place is not None
        stem, lemma = ("い", "いる") if thing.is_animate else ("あり", "ある")
        head = Node(stem, "VERB", "root", (clause.key,), lemma)
        head.before = [self.place(clause.place, "obl", "に"), self.phrase(thing, "nsubj", "が")]
        head.after = [Node("ます", "AUX", "aux", (clause.key,))]
        return head
