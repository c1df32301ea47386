"""The grammars of Chinese and Japanese, which write no spaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from nbsandbox.grammars import Grammar, Noun, marker_of, split_cell, without_article
from nbsandbox.meaning import (
    AUX,
    CASE,
    CLASSIFIER,
    COUNT,
    DEGREE,
    DET,
    FIRST,
    MARK,
    MODAL,
    NEGATION,
    PART,
    SECOND,
    THIRD,
    WE,
    Adverbial,
    Clause,
    Lexeme,
    Node,
    Phrase,
    Place,
    Subordinate,
)

# ----------------------------------------------------------------------------
# Chinese: measure words, 的, modifiers before the verb, 了 and 没有, 被, questions with 吗.


@dataclass(frozen=True, slots=True)
class ChineseVerb:
    """A verb, what marks its recipient, and whether 了 stands before an infinitive."""

    word: str
    recipient: str
    is_completed: bool


class Chinese(Grammar):
    lang = "zh"
    spaced = False
    stop, question_mark, command_mark, comma_mark = "。", "？", "！", "，"
    phrase_features: ClassVar[dict[str, str]] = {}
    noun_features: ClassVar[tuple[str, ...]] = ()

    def decline(self, cell: str) -> Noun:
        """Word, measure word and localizer (里, …) of a noun, from its dictionary cell."""
        forms, options = split_cell(cell)
        word, _, measure = forms[0].partition("/")
        return Noun((word,), (word,), location=options.get("loc", "里"), counter=measure)

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> ChineseVerb:
        """Word, recipient marker and use of 了 of a verb, from its dictionary cell."""
        return ChineseVerb(cell, options.get("iobj", ""), "le" in flags)

    # --- phrases

    def attach(self, node: Node, phrase: Phrase) -> None:
        """Nothing: place and relative clause stand before the noun, where `specify` puts them."""

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Put relative clause, place, determiner or number, owner and adjective before the noun, in this order."""
        key, before, owner = phrase.key, node.before, phrase.possessor
        if phrase.relative is not None:
            relative = self.clause(replace(phrase.relative, time_first=False), is_relative=True)
            relative.deprel = "acl:relcl"
            relative.after.append(Node("的", "PART", "mark:rel", (phrase.relative.key + MARK,)))
            before.append(relative)
        if phrase.place is not None:
            place = self._place_phrase(phrase.place, "nmod", "")
            place.after.append(Node("的", "PART", "case"))
            before.append(place)
        match phrase.determiner:
            case "indefinite":
                before.append(self._measured("一", "NUM", "nummod", phrase, noun))
            case "this" | "that":
                word = "这" if phrase.determiner == "this" else "那"
                if phrase.plural:
                    before.append(self.determiner(word + "些", phrase))
                else:
                    before.append(self._measured(word, "DET", "det", phrase, noun))
            case "definite" if phrase.plural:
                before.append(self.determiner("那些", phrase))
            case "count":
                number = self.numeral(phrase)
                if not phrase.is_measure:
                    number.after.append(Node(noun.counter, "NOUN", "clf", (key + COUNT, key + CLASSIFIER)))
                before.append(number)
            case "many":
                before.append(Node("很多", "NUM", "nummod", (key + DET,)))
            case "own" if owner is not None:
                whose = Node("自己", "PRON", "nmod", (owner.key,)) if phrase.reflexive else self.phrase(owner, "nmod")
                whose.after.append(Node("的", "PART", "case", (owner.key + CASE,)))
                before.append(whose)
        if phrase.adjective is not None:
            word, particle = _word_and_particle(phrase.adjective)
            adjective = self.adjective_node(word, phrase)
            if particle:
                adjective.after.append(Node(particle, "PART", "mark:rel"))
            before.append(adjective)

    def _measured(self, word: str, upos: str, relation: str, phrase: Phrase, noun: Noun) -> Node:
        """A determiner or number with the noun's measure word: 三 只."""
        keys = (phrase.key + DET, phrase.key + CLASSIFIER)
        node = Node(word, upos, relation, keys[:1])
        node.after.append(Node(noun.counter, "NOUN", "clf", keys))
        return node

    def place(self, place: Place, relation: str) -> Node:
        """The tree of a phrase of place: 在 … 里."""
        return self._place_phrase(place, relation, "在")

    def _place_phrase(self, place: Place, relation: str, preposition: str) -> Node:
        """The tree of a phrase of place: *preposition* ("" for none), noun, localizer."""
        ground = place.ground
        node = self.phrase(ground, relation, preposition)
        at = place.relation == "at"
        localizer = self.noun_of(ground).location if at else self.words["relations"][place.relation]
        if localizer:
            node.after.append(Node(localizer, "ADP", "case", (ground.key + CASE,)))
        return node

    # --- clauses

    def main(self, clause: Clause) -> Node:
        """The tree of a sentence, with 吗 at the end of a polar question."""
        node = super().main(clause)
        if clause.force == "polar":
            node.after.append(Node("吗", "PART", "discourse:sp", (clause.key + PART,)))
        return node

    def conjunction(self, clause: Clause) -> str:
        """并 if the clauses share their subject, else 但是 (*but*) or 而 (*and*)."""
        return "并" if clause.shared_subject else "但是" if clause.conjunction == "but" else "而"

    def has_comma_before_conjunct(self, clause: Clause) -> bool:
        """Always: a comma stands between coordinated clauses."""
        return True

    def clause(self, clause: Clause, absent: Phrase | None = None, is_relative: bool = False) -> Node:
        """The tree of a clause; a relative one has no 了."""
        clause = self.with_modal_want(clause)
        if clause.existing is not None:
            return self._existential(clause, clause.existing)
        if clause.verb is None:
            return self._copular(clause)
        head = Node(self.verb_of(clause).word, "VERB", "root", (clause.key,))
        head.before = self.fill(clause, "before_verb")
        if not is_relative and self._is_completed(clause):
            head.after.append(Node("了", "AUX", "aux", (clause.key + AUX,)))
        head.after += self.fill(clause, "after_verb")
        return head

    def _is_completed(self, clause: Clause) -> bool:
        """Whether the verb takes 了: a completed event in the past, not the mere verb of another clause."""
        if clause.infinitive is not None:
            return _is_completed(clause) and self.verb_of(clause).is_completed
        return _is_completed(clause) and clause.content is None and clause.purpose is None

    def render_please(self, clause: Clause, please: bool) -> list[Node]:
        """请 (*please*)."""
        return [Node("请", "VERB", "discourse", (clause.key + PART,))]

    def render_subordinate_first(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        """The adverbial clause if it comes first, as *when* always does."""
        return [self.subordinate(subordinate)] if _comes_first(subordinate) else []

    def render_subordinate_late(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        """The adverbial clause unless it comes first, as *when* always does."""
        return [] if _comes_first(subordinate) else [self.subordinate(subordinate)]

    def render_subordinate_then(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        """就 (*then*) after an *if*-clause."""
        then = Node("就", "ADV", "advmod", (subordinate.key + MARK,))
        return [then] if subordinate.conjunction == "if" else []

    def render_negation(self, clause: Clause, negative: bool) -> list[Node]:
        """不, or 没有 in the past."""
        plain = bool(clause.modal) or clause.tense in ("future", "present")
        return [self.negation(clause, "" if plain else "没有")]

    def render_tense(self, clause: Clause, tense: str) -> list[Node]:
        """The word before the verb for a modal, the future (会) or an ongoing event (正在)."""
        key = clause.key + AUX
        if clause.modal:
            word = self.words["modals"][clause.modal]
            return [Node(word, "AUX", "aux", (clause.modal_key or clause.key + MODAL,))]
        if tense == "future":
            return [Node("会", "AUX", "aux", (key,))]
        if tense == "progressive" and (clause.place is None or not clause.negative):
            word = "在" if clause.negative else "正在" if clause.place is None else "正"
            return [Node(word, "ADV", "advmod", (key,))]
        return []

    def render_companion(self, clause: Clause, companion: Phrase) -> list[Node]:
        """The companion, followed by 一起 (*together*)."""
        return [*super().render_companion(clause, companion), Node("一起", "ADV", "advmod", (companion.key + CASE,))]

    def render_manner(self, clause: Clause, manner: Adverbial) -> list[Node]:
        """The adverb of manner, followed by 地."""
        node = self.adverbial(manner)
        node.after.append(Node("地", "PART", "mark:adv", (manner.key,)))
        return [node]

    def render_recipient_marked(self, clause: Clause, recipient: Phrase) -> list[Node]:
        """The recipient with its marker (给), if the verb requires one."""
        marker = self._recipient_marker(clause)
        return [self.phrase(recipient, "obl", marker)] if marker else []

    def render_recipient_bare(self, clause: Clause, recipient: Phrase) -> list[Node]:
        """The recipient without a marker, if the verb requires none."""
        return [] if self._recipient_marker(clause) else [self.phrase(recipient, "iobj")]

    def _recipient_marker(self, clause: Clause) -> str:
        """The marker (给) that the verb requires before its recipient, "" for none."""
        return self.verb_of(clause).recipient

    def render_object(self, clause: Clause, thing: Phrase) -> list[Node]:
        """The object: without a measure word in a negation, with a demonstrative after a bare recipient."""
        if clause.passive:
            return []
        if clause.negative:
            thing = without_article(thing)  # 没有买苹果: no measure word for what is not there
        if clause.recipient is not None and not self._recipient_marker(clause):
            thing = _with_demonstrative(thing)
        return [self.phrase(thing, "obl" if thing.is_duration else "obj")]

    def render_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        """The clause that completes the verb, which has no marker."""
        return [self._unmarked_clause(infinitive, "xcomp")]

    def render_purpose(self, clause: Clause, purpose: Clause) -> list[Node]:
        """The clause of purpose, which has no marker, in the past if the main clause is completed."""
        return [self._unmarked_clause(replace(purpose, tense="past" if _is_completed(clause) else "present"), "advcl")]

    def render_content(self, clause: Clause, content: Clause) -> list[Node]:
        """The clause that someone says or thinks, without a conjunction."""
        return [self._unmarked_clause(replace(content, time_first=False), "ccomp")]

    def _unmarked_clause(self, clause: Clause, relation: str) -> Node:
        """The tree of a clause without a conjunction, as *relation* to its head."""
        node = self.clause(clause)
        node.deprel = relation
        return node

    def subordinate(self, subordinate: Subordinate) -> Node:
        """The tree of an adverbial clause; a *when*-clause ends in 时."""
        node = super().subordinate(subordinate)
        if subordinate.conjunction == "when":
            node.after.append(Node("时", "PART", "mark", (subordinate.key + MARK,)))
        return node

    def _copular(self, clause: Clause) -> Node:
        """The tree of a clause whose predicate is a noun or colour (with 是) or another adjective (with 很)."""
        key, before = clause.key, self.fill(clause, "subject")
        copula = Node("是", "AUX", "cop", (key + AUX,))
        if clause.class_ is not None:
            head = self.phrase(clause.class_, "root")
            head.before[:0] = [*before, copula]
            return head
        assert clause.quality is not None
        if clause.tense == "past":
            before.append(Node("当时", "NOUN", "obl", (key + AUX,)))
        word, particle = _word_and_particle(clause.quality)
        head = Node(word, "ADJ", "root", (key,), feats="Degree=Pos")
        if clause.than is not None:
            than = self.participant("than", clause.than)
            than.before[0].keys += (key + DEGREE,)
            before.append(than)
        if clause.negative:
            before.append(self.negation(clause))
        if "color" in clause.quality.kinds:
            before.append(copula)
            head.after.append(Node(particle, "PART", "mark:rel"))
        elif not clause.negative and clause.very:
            before.append(Node("非常", "ADV", "advmod", (key + DEGREE,)))
        elif not clause.negative and clause.than is None and clause.force != "polar":
            before.append(Node("很", "ADV", "advmod", (key + AUX,)))
        head.before = before
        return head

    def _existential(self, clause: Clause, thing: Phrase) -> Node:
        """The tree of *there is*: 桌子 上 有 书."""
        assert clause.place is not None
        head = Node("有", "VERB", "root", (clause.key,))
        head.before, head.after = [self._place_phrase(clause.place, "obl", "")], [self.phrase(thing, "obj")]
        return head


def _word_and_particle(adjective: Lexeme) -> tuple[str, str]:
    """An adjective's word, and 的 if it takes it before a noun, else ""."""
    word, _, particle = adjective.cells["zh"].partition("+")
    return word, particle


def _is_completed(clause: Clause) -> bool:
    """Whether the clause is about an event in the past that did happen."""
    return clause.tense == "past" and not (clause.negative or clause.modal)


def _comes_first(subordinate: Subordinate) -> bool:
    """Whether an adverbial clause comes first; 当 … 时 always does."""
    return subordinate.first or subordinate.conjunction == "when"


def _with_demonstrative(phrase: Phrase) -> Phrase:
    """*phrase* with *that* in place of a definite article, as it must have after a bare recipient."""
    if phrase.determiner == "definite" and phrase.place is None and phrase.relative is None:
        phrase = replace(phrase, determiner="that")
    if phrase.coordinated is not None:
        phrase = replace(phrase, coordinated=_with_demonstrative(phrase.coordinated))
    return phrase


# ----------------------------------------------------------------------------
# Japanese: verb forms as chains of tokens, cut as the Universal Dependencies treebanks cut them, and
# particles.

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
class JapaneseVerb:
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
        """The dictionary form: 翻訳する."""
        return self.light + self.plain


def stems(cell: str) -> JapaneseVerb:
    """The stems of a verb from its dictionary cell: 読む5 (five-grade), 食べる1 (one-grade), 翻訳する, 来る.

    >>> verb = stems("読む5")
    >>> verb.masu, verb.nai, verb.te, verb.voiced, verb.passive
    ('読み', '読ま', '読ん', True, '読まれ')
    """
    if cell.endswith("する"):
        return JapaneseVerb("する", "し", "し", "し", False, "しよう", "され", cell[:-2])
    if cell == "来る":
        return JapaneseVerb("来る", "来", "来", "来", False, "来よう", "来られ", "")
    word, grade = cell[:-1], cell[-1]
    stem, last = word[:-1], word[-1]
    if grade == "1":
        return JapaneseVerb(word, stem, stem, stem, False, stem + "よう", stem + "られ", "")
    a, i, o = _ROWS[last][0], _ROWS[last][1], _ROWS[last][3]
    te = stem + ("っ" if word == "行く" else _TE[last])
    return JapaneseVerb(word, stem + i, stem + a, te, last in "ぐぬぶむ", f"{stem}{o}う", f"{stem}{a}れ", "")


#: A form of a verb: its stem, and what follows that (see `tokens`).
Chain = tuple[str, str]
_RELATIONS = {"AUX": "aux", "SCONJ": "mark", "ADP": "case"}


def tokens(chain: str) -> list[Node]:
    """Nodes for a chain of endings, each written as form/lemma/UPOS; the last two may be omitted.

    >>> [(node.form, node.lemma, node.upos) for node in tokens("まし/ます た")]
    [('まし', 'ます', 'AUX'), ('た', 'た', 'AUX')]
    """
    nodes = []
    for token in chain.split():
        form, lemma, upos = (*token.split("/"), "", "")[:3]
        nodes.append(Node(form, upos or "AUX", _RELATIONS[upos or "AUX"], (), lemma))
    return nodes


def te_form(verb: JapaneseVerb) -> Chain:
    """The te-form of a verb, as (stem, endings): 読ん で."""
    return verb.te, "で/て/SCONJ" if verb.voiced else "て/て/SCONJ"


def dictionary_form(verb: JapaneseVerb) -> Chain:
    """The dictionary form of a verb, as (stem, endings): 読む."""
    return verb.plain, ""


class Japanese(Grammar):
    lang = "ja"
    spaced = False
    stop, question_mark, command_mark, comma_mark = "。", "？", "。", "、"
    phrase_features: ClassVar[dict[str, str]] = {}
    noun_features: ClassVar[tuple[str, ...]] = ()

    def decline(self, cell: str) -> Noun:
        """Word and counter of a noun, from its dictionary cell."""
        word, _, counter = cell.partition("/")
        return Noun((word,), (word,), counter=counter)

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> JapaneseVerb:
        """Stems, object particle and link to other clauses (と, こと, …) of a verb, from its dictionary cell."""
        link = next((flag for flag in flags if not flag.startswith("+")), "")
        return replace(stems("する" if cell == "たい" else cell), particle=marker_of(flags, "を"), link=link)

    # --- phrases

    def phrase(self, phrase: Phrase, relation: str, marker: str = "", case: int | None = None) -> Node:
        """The tree of a noun phrase; its particle stands after the last of coordinated phrases."""
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
        """Put the particle *marker* after the phrase whose tree is *node*."""
        node.after.append(Node(marker, "ADP", "case", keys))

    def attach(self, node: Node, phrase: Phrase) -> None:
        """Nothing: place and relative clause stand before the noun, where `specify` puts them."""

    def specify(self, node: Node, phrase: Phrase, noun: Noun, case: int) -> None:
        """Put relative clause, place, determiner or number, owner and adjective before the noun, in this order."""
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
            adjective = self.adjective_node(word, phrase)
            if suffix == "な":
                adjective.after.append(Node("な", "AUX", "cop", (), "だ"))
            elif suffix:
                self.govern(adjective, suffix)
            before.append(adjective)

    def place(self, place: Place, relation: str, particle: str = "で") -> Node:
        """The tree of a phrase of place: 公園 で; テーブル の 上 に."""
        ground = place.ground
        if place.relation == "at":
            return self.phrase(ground, relation, particle)
        side = Node(self.words["relations"][place.relation], "NOUN", relation, (ground.key + CASE,))
        side.before.append(self.phrase(ground, "nmod", "の"))
        self.govern(side, particle)
        return side

    # --- the verb

    def chain(self, clause: Clause, verb: JapaneseVerb, is_polite: bool) -> Chain:
        """The verb's form for the clause's tense, negation and modality, as (stem, endings)."""
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

    def head_of(self, clause: Clause, verb: JapaneseVerb, chain: Chain) -> Node:
        """The tree of the verb with the endings of *chain*."""
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
        """The tree of a sentence, with か at the end of a question."""
        if clause.conjunct is not None:
            return self._coordinated(clause, clause.conjunct)
        node = self.clause(clause)
        if clause.force not in ("statement", "command"):
            node.after.append(Node("か", "PART", "mark", (clause.key + PART,)))
        return node

    def _coordinated(self, clause: Clause, conjunct: Clause) -> Node:
        """The tree of two coordinated clauses, the first linked by て, its masu-stem or が."""
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
        """The tree of a clause, polite if it is a main one; its verb has the form *chain* if given."""
        clause = self.with_modal_want(clause)
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
        """The subject with は, in dependent clauses with が; empty for commands and for pronouns that refer back."""
        subject = clause.subject
        if clause.force == "command" or subject is None or (subject.antecedent is not None and subject.noun is None):
            return []
        return [self.phrase(subject, "nsubj", "は" if is_polite else "が")]

    def render_purpose(self, clause: Clause, purpose: Clause) -> list[Node]:
        """The clause of purpose, with ため に."""
        node = self._complement(purpose, "advcl", dictionary_form)
        keys = (purpose.key + MARK,)
        node.after.append(Node("ため", "NOUN", "mark", keys))
        self.govern(node, "に", keys)
        return [node]

    def render_object(self, clause: Clause, thing: Phrase) -> list[Node]:
        """What stands in the object's place: it with the verb's particle, or in the passive *thing* as its agent."""
        if clause.passive:
            return self.render_agent(clause, thing)
        particle = self._verb_of(clause).particle
        if thing.is_measure and particle == "を":
            return [self.phrase(thing, "obl")]  # 100 ユーロ 払う
        return [self.phrase(thing, "obj" if particle == "を" else "obl", particle)]

    def render_goal(self, clause: Clause, goal: Phrase) -> list[Node]:
        """The goal of a movement, with に unless the verb has another particle."""
        particle = self._verb_of(clause).particle
        return [self.phrase(goal, "obl", "に" if particle == "を" else particle)]

    def render_infinitive(self, clause: Clause, infinitive: Clause) -> list[Node]:
        """The clause that completes the verb, linked as the verb requires: masu-stem, よう と, こと を."""
        link = self._verb_of(clause).link
        if link == "masu":
            return [self._complement(infinitive, "xcomp", lambda verb: (verb.masu, ""))]
        if link == "よう":
            node = self._complement(infinitive, "xcomp", lambda verb: (verb.volitional, ""))
            return [self._linked(node, "と", infinitive)]
        return [self._linked(self._complement(infinitive, "xcomp", dictionary_form), link, infinitive)]

    def render_content(self, clause: Clause, content: Clause) -> list[Node]:
        """The clause that someone says or thinks, in plain form, linked as the verb requires."""
        tense = content.tense
        if content.modal and tense == "past":
            tense = "present"  # Japanese keeps the tense of what was said
        node = self.clause(replace(content, time_first=False, tense=tense), is_polite=False)
        node.deprel = "ccomp"
        return [self._linked(node, self._verb_of(clause).link, content)]

    def _verb_of(self, clause: Clause) -> JapaneseVerb:
        """The forms of the verb of *clause*, which must have one."""
        return self.verb_of(clause)

    def _complement(self, clause: Clause, relation: str, form: Callable[[JapaneseVerb], Chain]) -> Node:
        """The tree of a plain clause whose verb has *form*, as *relation* to its head."""
        node = self.clause(clause, is_polite=False, chain=form(self._verb_of(clause)))
        node.deprel = relation
        return node

    def _linked(self, node: Node, link: str, clause: Clause) -> Node:
        """*node*, the tree of *clause*, followed by と, or by a noun such as こと and を."""
        keys = (clause.key + MARK,)
        if link != "と":
            node.after.append(Node(link, "SCONJ", "mark", keys))
        self.govern(node, "と" if link == "と" else "を", keys)
        return node

    def render_subordinate(self, clause: Clause, subordinate: Subordinate) -> list[Node]:
        """The adverbial clause, with もし before it (*if*) or its conjunction after it."""
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
        """The tree of a clause whose predicate is a noun or an adjective, with its endings."""
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
        """The tree of *there is*: いる for people and animals, else ある."""
        assert clause.place is not None
        stem, lemma = ("い", "いる") if thing.is_animate else ("あり", "ある")
        head = Node(stem, "VERB", "root", (clause.key,), lemma)
        head.before = [self.place(clause.place, "obl", "に"), self.phrase(thing, "nsubj", "が")]
        head.after = [Node("ます", "AUX", "aux", (clause.key,))]
        return head
