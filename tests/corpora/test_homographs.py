"""Homograph lexicons: the project's own, the published format, and what the checker refuses."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from nbkit.corpora.homographs import (
    HOMOGRAPHS,
    Homograph,
    HomographLexicon,
    SenseCluster,
    check_homographs,
    load_homographs,
    own_homographs,
    translation_key,
)
from nbkit.errors import DataError, NbkitError, UnknownNameError

PUBLISHED = "homographs/en-de.sense_clusters.json"

HEAD = "source: en\ntarget: de\nhomographs:\n"
LOCK = (
    "  lock:\n    - {sense: door, translations: [Schloss]}\n    - {sense: hair, gloss: tuft, translations: [Locke]}\n"
)


def written(tmp_path: Path, text: str, name: str = "mine.yaml") -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_own_lexicon_is_large_and_consistent():
    lexicon = load_homographs("own")
    assert len(lexicon) >= 40
    for word, homograph in lexicon.homographs.items():
        assert word.isalpha() and word.islower()
        for cluster in homograph.clusters:
            assert cluster.gloss, f"{word}/{cluster.name} has no gloss"
            assert len(cluster.translations) >= 2, f"{word}/{cluster.name} has one translation"
            assert all(each[0].isupper() for each in cluster.translations)  # German nouns
    assert sum(len(homograph.clusters) for homograph in lexicon.homographs.values()) >= 100


def test_own_lexicon_knows_the_papers_examples():
    lexicon = own_homographs("de")
    wanted = {("spring", "Frühling"): "season", ("spring", "Quelle"): "water", ("spring", "Feder"): "device",
              ("bat", "Fledermaus"): "animal", ("bat", "Schläger"): "club", ("bug", "Käfer"): "insect"}  # fmt: skip
    assert {key: lexicon.cluster_of(*key).name for key in wanted} == wanted
    assert lexicon.cluster_of("bug", "Wanze") is None and "Wanze" in lexicon.homographs["bug"].ambiguous
    assert lexicon.cluster_of("spoon", "Löffel") is None


def test_spellings_are_one_translation():
    assert translation_key("Faß") == translation_key("fass") == translation_key(" Fass,")
    assert own_homographs().cluster_of("lap", "SCHOSS").name == "body"


def test_published_lexicon(data_folder: Path):
    lexicon = load_homographs(str(data_folder / PUBLISHED))
    assert len(lexicon) == 101
    assert sum(len(homograph.clusters) for homograph in lexicon.homographs.values()) == 357
    assert lexicon.dropped == ()
    water = lexicon.cluster_of("spring", "Wasserquelle")
    assert water == lexicon.cluster_of("spring", "Quelle") != lexicon.cluster_of("spring", "Frühling")
    # What the authors took out as ambiguous or misleading tells no sense here.
    bank = lexicon.homographs["bank"]
    assert bank.cluster_of("Bank") is None and "Bank" in bank.ambiguous
    assert "Quarter" in lexicon.homographs["quarter"].ambiguous
    # Blanks and commas that the file has around some translations are gone.
    assert all(
        translation == translation.strip(" ,")
        for homograph in lexicon.homographs.values()
        for cluster in homograph.clusters
        for translation in cluster.translations
    )
    glosses = [cluster.gloss for homograph in lexicon.homographs.values() for cluster in homograph.clusters]
    assert sum(map(bool, glosses)) == 357 - 23


def test_published_and_own_agree_on_shared_words(data_folder: Path):
    """Two translations that both lexicons know are of one sense in both, or of two in both, nearly always."""
    own, published = load_homographs("own"), load_homographs(str(data_folder / PUBLISHED))
    same = different = 0
    for word in own.homographs.keys() & published.homographs.keys():
        known = [key for key in own.homographs[word].by_key if key in published.homographs[word].by_key]
        for i, first in enumerate(known):
            for second in known[:i]:
                ours = own.cluster_of(word, first) == own.cluster_of(word, second)
                theirs = published.cluster_of(word, first) == published.cluster_of(word, second)
                same, different = same + (ours == theirs), different + (ours != theirs)
    assert same > 15 * different


def test_published_path_may_hold_variables(data_folder: Path, monkeypatch):
    monkeypatch.setenv("NBKIT_DATA", str(data_folder))
    lexicon = load_homographs("${NBKIT_DATA}/" + PUBLISHED)
    assert lexicon.name == "en-de.sense_clusters.json" and (lexicon.src, lexicon.tgt) == ("en", "de")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (HEAD + LOCK + "  lock:\n    []\n", 7, "'lock' is given twice (first in line 4)"),
        (HEAD + "  lock:\n    - {sense: door, translations: [Schloss]}\n", 4, "has 1 sense clusters; at least two"),
        (HEAD + "  lock:\n    - {sense: a, translations: [Schloss, Tor]}\n"
         "    - {sense: b, translations:\n      [Schloß]}\n",
         7, "'Schloss' translates 'lock' in the clusters 'a' and 'b'"),
        (HEAD + LOCK + "    - ambiguous: [locke]\n", 7, "in the clusters 'hair' and 'ambiguous'"),
        (HEAD + "  lock:\n    - {sense: a, translations: [X]}\n    - {sense: a, translations: [Y]}\n", 4,
         "two clusters called 'a'"),
        (HEAD + "  lock:\n    - {sense: a, translation: [X]}\n", 5,
         "homographs.lock.0.translation: unknown key; did you mean 'translations'?"),
        (HEAD + "  lock:\n    - {sense: a}\n", 5, "lock.0: a sense lacks 'translations'"),
        (HEAD + "  lock:\n    - {sense: a, translations: Schloss}\n", 5, "lock.0.translations: expected a list"),
        (HEAD + "  lock:\n    - {sense: a, translations: ['']}\n", 5, "lock.0.translations.0: expected text"),
        (HEAD + "  lock:\n    - {sense: a, translations: [X], ambiguous: [Y]}\n", 5,
         "write 'ambiguous' as a separate entry"),
        (HEAD + "  lock: {door: [Schloss]}\n", 4, "lock: expected a list"),
        ("source: en\ntarget: de\n", 1, "homographs: is missing"),
        ("- lock\n", 1, "expected source, target and homographs"),
        ("source: en\ntarget: de\nhomographs: [\n", 4, "invalid YAML"),
        (HEAD + LOCK.replace("lock", "Lock"), None, "'Lock' is listed under 'Lock'; expected lower case"),
        (HEAD.rstrip() + " {}\n", None, "contains no homograph"),
    ],
)  # fmt: skip
def test_bad_yaml_is_named_with_its_line(tmp_path: Path, text, line, reason):
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        load_homographs(path)
    assert reason in caught.value.reason
    assert (caught.value.path, caught.value.line) == (path, line)
    assert check_homographs(path) == str(caught.value)


def published(**words) -> str:
    return json.dumps(words, indent=1, ensure_ascii=False)


CLUSTER = {"[POS]": "NOUN", "[SENSES]": ["Schloss"], "[SOURCE GLOSSES]": [["shuts a door", "WN"]]}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{"lock": {"0": \n', 2, "invalid JSON"),
        ("[]", 1, "expected homographs with their clusters"),
        (published(lock=[]), 2, "lock: expected a mapping of keys to values"),
        (published(lock={"0": {"[SENSE]": []}}), 3, "lock.0.[SENSES]: is missing"),
        (published(lock={"0": {"[SENSES]": "Schloss"}}), 4, "lock.0.[SENSES]: expected a list"),
        (published(lock={"0": {"[SENSES]": [[7]]}}), 5, "lock.0.[SENSES].0: expected text"),
        (published(lock={"0": []}), 3, "lock.0: expected a mapping of keys to values"),
        (published(lock={"0": CLUSTER}), 2, "has 1 sense clusters"),
        (published(lock={"0": CLUSTER, "4": CLUSTER}), 18, "'Schloss' translates 'lock' in the clusters '0' and '4'"),
        ('{"lock": {"0": {"[SENSES]": ["X"]}},\n "lock": {}}', 2, "'lock' is given twice (first in line 1)"),
    ],
)
def test_bad_published_file_is_named_with_its_line(tmp_path: Path, text, line, reason):
    with pytest.raises(DataError) as caught:
        load_homographs(written(tmp_path, text, "lexicon.json"))
    assert reason in caught.value.reason and caught.value.line == line


def test_conflicts_can_be_dropped_and_are_counted(tmp_path: Path):
    third = {"[SENSES]": ["Locke", "schloß", "Strähne"]}
    path = written(tmp_path, published(lock={"0": CLUSTER, "1": third, "2": {"[SENSES]": ["Schleuse"]}}), "l.json")
    with pytest.raises(DataError):
        load_homographs(path)
    lexicon = load_homographs(path, on_conflict="drop")
    (conflict,) = lexicon.dropped
    assert conflict[:3] == ("lock", "Schloss", ("0", "1")) and conflict.place.startswith("l.json:")
    # The first sense has no translation left, and goes.
    assert [cluster.name for cluster in lexicon.homographs["lock"].clusters] == ["1", "2"]
    assert lexicon.cluster_of("lock", "Schloss") is None and "Schloss" in lexicon.homographs["lock"].ambiguous
    with pytest.raises(UnknownNameError, match="unknown on_conflict 'dorp'; did you mean 'drop'"):
        load_homographs(path, on_conflict="dorp")


def test_other_languages_by_the_same_schema(tmp_path: Path):
    text = (HEAD + LOCK).replace("target: de", "target: fr").replace("Schloss", "serrure").replace("Locke", "mèche")
    path = written(tmp_path, text)
    lexicon = load_homographs(path, "fr")
    assert lexicon.tgt == "fr" and lexicon.cluster_of("lock", "serrure").name == "door"
    with pytest.raises(NbkitError, match="has translations into 'fr', not 'de'"):
        load_homographs(path)
    with pytest.raises(UnknownNameError, match=r"no homographs with translations for French \(fr\)"):
        load_homographs("own", "fr")


def test_files_that_are_none(tmp_path: Path):
    with pytest.raises(NbkitError, match=r"nowhere\.yaml cannot be read: No such file"):
        load_homographs(str(tmp_path / "nowhere.yaml"))
    with pytest.raises(NbkitError, match=r"expected a path that ends in \.yaml, \.json or \.key\.txt"):
        load_homographs("somewhere/lexicon.tsv")
    (tmp_path / "bad.json").write_bytes(b"{}\n\xff")
    with pytest.raises(DataError, match=r"bad\.json:2: bad UTF-8"):
        load_homographs(str(tmp_path / "bad.json"))


def test_digest_is_of_what_matters():
    def lexicon(name="a", gloss="", translations=("Schloss",), tgt="de"):
        clusters = (SenseCluster("door", frozenset(translations), gloss), SenseCluster("hair", frozenset({"Locke"})))
        return HomographLexicon(name, "en", tgt, {"lock": Homograph("lock", clusters)})

    assert lexicon().digest == lexicon("b", "of a door").digest == lexicon(translations=("Schloß",)).digest
    assert len({lexicon().digest, lexicon(tgt="fr").digest, lexicon(translations=("Tor",)).digest}) == 3


def test_registered_lexicons_are_used_by_name():
    with HOMOGRAPHS.isolated():
        HOMOGRAPHS.register("mine", lambda tgt: own_homographs(tgt), summary="test", replace=True)
        assert load_homographs("mine") is own_homographs("de")


def test_repairs_are_added_beside_the_published_senses(data_folder: Path):
    path = str(data_folder / PUBLISHED)
    published = load_homographs(path, on_conflict="drop")
    repaired = load_homographs(f"{path}+repairs", on_conflict="drop")
    assert repaired.homographs.keys() == published.homographs.keys() and repaired.digest != published.digest
    assert published.cluster_of("date", "Daten").name == "5" and repaired.cluster_of("date", "Daten") is None
    assert published.cluster_of("case", "Fall") is None
    assert repaired.cluster_of("case", "Fall") == repaired.cluster_of("case", "Rechtsstreit")  # senses that were merged
    assert repaired.cluster_of("case", "Kasus").name == "4"
    repairs = yaml.safe_load((files("nbkit.corpora.homographs") / "repairs-en-de.yaml").read_text(encoding="utf-8"))
    for word, changes in repairs.items():
        known = {cluster.name for cluster in published.homographs[word].clusters}
        for change in changes:
            assert change.keys() <= {"sense", "translations", "merges", "ambiguous"}, word
            assert {*change.get("merges", ())} <= known, word
            assert change.get("sense", "new") in known or not change.get("sense", "new").isdigit(), word


def test_words_of_another_lexicon_are_added(data_folder: Path):
    path = str(data_folder / PUBLISHED)
    both = load_homographs(f"{path}+repairs+own", on_conflict="drop")
    own = own_homographs()
    assert both.homographs["line"] == own.homographs["line"] and both.homographs["bat"] != own.homographs["bat"]
    assert len(both) > len(own)
    with pytest.raises(NbkitError, match="there are no repairs for en-fr"):
        load_homographs(f"{path}+repairs", "fr", on_conflict="drop")


def test_senses_of_mucow_are_the_sets_of_right_words(tmp_path: Path):
    springs = [("spring", "feder", "quelle brunnen"), ("spring", "quelle brunnen", "feder")]
    rows = [*springs, springs[0], ("seal", "siegel", "robbe")]
    lines = ["\t".join((str(n), "ted", *row)) for n, row in enumerate(rows)]
    lexicon = load_homographs(written(tmp_path, "\n".join(lines), "en-de.key.txt"))
    assert [each.name for each in lexicon.homographs["spring"].clusters] == ["feder", "quelle"]
    assert lexicon.cluster_of("spring", "Brunnen").name == "quelle"
    assert lexicon.cluster_of("seal", "Robbe").name == "other"  # nowhere right
    with pytest.raises(DataError, match=r"en-de\.key\.txt:2: id, corpus, word, right words and wrong words"):
        load_homographs(written(tmp_path, lines[0] + "\n4\tted\tseal\n", "en-de.key.txt"))
