"""Italian: articles by the next sound (il, lo, l'), articulated prepositions, passato prossimo."""

from __future__ import annotations

import re

from nbkit.sandbox.grammars.romance import Adjective, Romance, Verb, cell_of, negation
from nbkit.sandbox.meaning import AUX, DET, Clause, Node, Phrase

_HEAVY = re.compile(r"s[^aeiouàèéìòù]|z|gn|ps|x|y")


class Italian(Romance):
    lang = "it"
    percent_clings = True
    location = "in"
    goal = "a"
    inverting = frozenset({"object"})

    def plural(self, noun: str, feminine: bool) -> str:
        """The regular plural.

        >>> [Italian().plural(noun, feminine) for noun, feminine in (("libro", False), ("cane", False), ("casa", True))]
        ['libri', 'cani', 'case']
        """
        if noun.endswith("a") and feminine:
            if noun.endswith(("ca", "ga")):
                return noun[:-1] + "he"
            return noun[:-1] + "e"
        return noun[:-1] + "i"

    def adjective_forms(self, forms: list[str]) -> tuple[str, str, str, str]:
        """The four forms.

        >>> Italian().adjective_forms(["bianco", "bianchi"])
        ('bianco', 'bianca', 'bianchi', 'bianche')
        """
        masculine = forms[0]
        if masculine.endswith("e"):
            return masculine, masculine, masculine[:-1] + "i", masculine[:-1] + "i"
        stem = masculine[:-1]
        plural = forms[1] if len(forms) > 1 else stem + "i"
        soft = stem[-1] in "cg" and ((len(forms) > 1 and plural.endswith("hi")) or forms[0] == "lungo")
        hard = stem[-1] in "cg"
        return masculine, stem + "a", plural, stem + ("he" if soft or hard else "e")

    def definite(self, feminine: bool, plural: bool, following: str) -> str:
        vowel = self.starts_with_vowel(following)
        if feminine:
            return "le" if plural else "l'" if vowel else "la"
        heavy = _HEAVY.match(following.lower()) is not None
        if plural:
            return "gli" if vowel or heavy else "i"
        return "l'" if vowel else "lo" if heavy else "il"

    def indefinite(self, feminine: bool, following: str) -> str:
        vowel = self.starts_with_vowel(following)
        if feminine:
            return "un'" if vowel else "una"
        return "uno" if _HEAVY.match(following.lower()) and not vowel else "un"

    def merge(self, preposition: str, article: str) -> str | None:
        """The articulated preposition.

        >>> [Italian().merge("di", article) for article in ("il", "lo", "l'", "la", "i", "gli", "le")]
        ['del', 'dello', "dell'", 'della', 'dei', 'degli', 'delle']
        """
        stem = self.words["articulated"].get(preposition)
        if stem is None:
            return None
        if article in ("i", "gli"):
            return stem + article
        return stem + article.removeprefix("i") if article == "il" else stem + "l" + article

    def before_noun(self, adjective: Adjective, form: str, cell: int, noun: str) -> str:
        """*Bello* changes as the article does: bel libro, bello studente, bell'albero, bei libri."""
        if adjective.forms[0] != "bello":
            return form
        article = self.definite(cell % 2 == 1, cell > 1, noun)
        return {"il": "bel", "i": "bei", "gli": "begli"}.get(article, "bel" + article)

    def determine(self, node: Node, phrase: Phrase, feminine: bool, following: str) -> None:
        key, cell = phrase.key, cell_of(feminine, phrase.plural)
        match phrase.determiner:
            case "this":
                forms = self.words["demonstrative"]["this"]
                form = forms[cell]
                if not phrase.plural and self.starts_with_vowel(following):
                    form = "quest'"
                word = Node(form, "DET", "det", (key + DET,), "questo")
                word.space = not form.endswith("'")
                node.before.insert(0, word)
            case "that":
                # quel, quello, quell' … follow the articles, as del, dello, dell' do
                article = self.definite(feminine, phrase.plural, following)
                form = {"il": "quel", "i": "quei", "gli": "quegli"}.get(article, "quel" + article)
                word = Node(form, "DET", "det", (key + DET,), "quello")
                word.space = not form.endswith("'")
                node.before.insert(0, word)
            case "many":
                node.before.insert(0, Node(self.words["many"][feminine], "DET", "det", (key + DET,), "molto"))
            case "own":
                self._own(node, phrase, feminine, cell)

    def _own(self, node: Node, phrase: Phrase, feminine: bool, cell: int) -> None:
        owner = phrase.possessor
        assert owner is not None and phrase.noun is not None
        form = self.words["possessives"][str(owner.agreement)][cell]
        lemma = self.words["possessives"][str(owner.agreement)][0]
        node.before.insert(0, Node(form, "DET", "det:poss", (owner.key,), lemma, "Poss=Yes"))
        near_kin = "kin" in phrase.noun.kinds and not phrase.plural and phrase.adjective is None
        if not near_kin or form == "loro":
            self.put_article(node, self.definite(feminine, phrase.plural, form), phrase.key)

    # --- verbs

    def conjugate(self, cell: str, options: dict[str, str], flags: list[str]) -> Verb:
        """A verb's forms.

        >>> verb = Italian().conjugate("cercare", {}, [])
        >>> verb.present, verb.future[2]
        (('cerco', 'cerchi', 'cerca', 'cerchiamo', 'cercano'), 'cercherà')
        """
        kind, stem = cell[-3:], cell[:-3]
        front = stem + "h" if stem[-1] in "cg" and kind == "are" else stem
        if kind == "are":
            second = stem if stem.endswith("i") else front + "i"
            we = stem + "amo" if stem.endswith("i") else front + "iamo"
            if "stem" in options:  # invio: the stressed i stays
                second = stem + "i"
            present = [stem + "o", second, stem + "a", we, stem + "ano"]
            future = re.sub(r"([cg])i$", r"\1", front) + "er"
            participle, gerund = stem + "ato", stem + "ando"
        else:
            long = stem + "isc" if "isc" in flags else stem
            present = [long + "o", long + "i", long + "e", stem + "iamo", long + "ono"]
            future = stem + ("er" if kind == "ere" else "ir")
            participle, gerund = stem + ("uto" if kind == "ere" else "ito"), stem + "endo"
        present = options["pres"].split(",") if "pres" in options else present
        future = options.get("fut", future)
        preposition = next((flag[1:] for flag in flags if flag.startswith("+")), "")
        imperfect = [cell[:-2] + ending for ending in ("vo", "vi", "va", "vamo", "vano")]
        return Verb(
            cell,
            tuple(present),
            (),
            tuple(imperfect),
            tuple(future + ending for ending in ("ò", "ai", "à", "emo", "anno")),
            options.get("pp", participle),
            options.get("ger", gerund),
            options.get("imp", present[2] if kind == "are" else present[1]),
            options.get("aux") == "essere",
            preposition,
        )

    def cluster(self, clause: Clause, verb: Verb, agreement: int, participle: int) -> tuple[list[Node], Node]:
        past = clause.tense == "past"
        if clause.modal:
            return [self.modal(clause, agreement)], self.lexical(clause, verb.infinitive, verb, "VerbForm=Inf")
        be = self.words["be"]["present"]
        if clause.passive:
            form = self.adjective_participle(verb.participle, participle)
            is_ = self.auxiliary(be[agreement], "essere", clause.key + AUX)
            been = self.adjective_participle(self.words["been"], participle)
            auxiliary = Node(been, "AUX", "aux:pass", (clause.key + AUX,), "essere", "VerbForm=Part")
            return [is_, auxiliary], self.lexical(clause, form, verb, "VerbForm=Part")
        if clause.tense == "progressive":
            auxiliary = self.auxiliary(self.words["stay"]["present"][agreement], "stare", clause.key + AUX)
            return [auxiliary], self.lexical(clause, verb.gerund, verb, "VerbForm=Ger")
        if past:
            forms, lemma = (be, "essere") if verb.with_be else (self.words["have"], "avere")
            form = self.adjective_participle(verb.participle, participle if verb.with_be else 0)
            return [self.auxiliary(forms[agreement], lemma, clause.key + AUX)], self.lexical(
                clause, form, verb, "VerbForm=Part"
            )
        return [], self.finite(clause, verb, agreement)

    def negate(self, clause: Clause, before: list[Node], head: Node) -> None:
        before.insert(0, negation("non", clause))

    def existential(self, clause: Clause) -> Node:
        assert clause.existing is not None and clause.place is not None
        plural = clause.existing.plural
        head = Node("sono" if plural else "è", "VERB", "root", (clause.key,), "essere", "Tense=Pres|VerbForm=Fin")
        there = Node("ci" if plural else "c'", "PRON", "expl", (clause.key,), "ci")
        there.space = plural
        head.before = [there]
        head.after = [self.phrase(clause.existing, "nsubj"), self.place(clause.place, "obl")]
        return head

    def spell(self, nodes: list[Node]) -> None:
        for node in nodes:
            if node.form.endswith("'"):
                node.space = False
