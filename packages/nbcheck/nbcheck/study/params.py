"""Parameters of a run of a suite."""

from __future__ import annotations

from inspect import getsource
from pathlib import Path
from typing import Annotated

from pydantic import model_validator

from nbcheck import EXPECTATIONS, Suite, read_suite
from nbcheck.expectations import matches_words
from nbcheck.suite import DEMO, NO_CATEGORY, digests
from nbkit.files import expand_path
from nbkit.languages import LanguageDataError
from nbkit.models.services.outputs import text_digest
from nbkit.studies.base import (
    NOT_IN_KEYS,
    JudgedParams,
    Language,
    Parsers,
    TranslatorParams,
    Translators,
    only,
    or_value_error,
)
from nbkit.text.parsers import check_parser, parser_for


def custom_code() -> dict[str, str]:
    """Digests of the code of custom expectations, by name; what they call is not included."""
    others = [each for each in map(EXPECTATIONS.get, EXPECTATIONS) if not each.judge.__module__.startswith("nbcheck.")]
    return {each.name: text_digest(getsource(each.judge)) for each in others}


#: Suites as they were read, by path, with the digests of their files: a notebook's reader may edit one.
_READ: dict[str, tuple[dict[str, str], Suite]] = {}


class SuiteParams(TranslatorParams, JudgedParams):
    """Parameters of a run of a suite: what is tested, and who translates it.

    Parameters
    ----------
    suite
        A suite (.yaml, .jsonl, .csv, DFKI's .json), or demo, nbkit's own.
    source
        Source language.
    target
        Target language.
    models
        Translators that are tested; none: only the suite is checked.
    without
        Categories that are not tested.
    only_answered
        Skip sentences that one of the systems of files (outputs:) has no translation of.
    quarantine
        Set aside tests that the suite's file excludes or in which something is wrong.
    parsers
        spaCy pipeline of the target language: words match by lemma. By default a known one.
    annotations
        Filled forms, by annotator.
    annotation_key
        The key written with the forms.
    """

    suite: Annotated[str, NOT_IN_KEYS] = "demo"
    source: Annotated[Language, NOT_IN_KEYS] = "en"
    target: Annotated[Language, NOT_IN_KEYS] = "de"
    models: Annotated[Translators, NOT_IN_KEYS] = ["sandbox"]
    without: Annotated[list[str], only("items")] = []
    only_answered: Annotated[bool, only("items")] = False
    quarantine: Annotated[bool, only("aside")] = True
    parsers: Annotated[Parsers, NOT_IN_KEYS] = {}
    annotations: Annotated[dict[str, str], NOT_IN_KEYS] = {}
    annotation_key: Annotated[str, NOT_IN_KEYS] = ""

    @model_validator(mode="after")
    def _check_suite(self) -> SuiteParams:
        """Validator: the suite must be of the run's languages, and have the categories in *without*."""
        read = or_value_error(self._load_suite, self.suite)
        if (read.src, read.tgt) != (self.source, self.target):
            raise ValueError(f"suite {self.suite} is {read.src}-{read.tgt}, the run {self.source}-{self.target}")
        categories = {str(entry.fields.get("category") or NO_CATEGORY) for entry in read.entries}
        for name in self.without:
            if name not in categories:
                raise ValueError(
                    f"without: the suite has no category '{name}'; it has: {', '.join(sorted(categories))}"
                )
        return self

    @property
    def read(self) -> Suite:
        """The suite that the parameters name, read again if its files have changed."""
        return self._load_suite(self.suite)

    def _load_suite(self, path: str) -> Suite:
        """The suite at *path*, cached until its files change."""
        place = str(DEMO if path == "demo" else Path(expand_path(path, "suite")).absolute())
        held = _READ.get(place)
        if held is None or held[0] != digests(held[1].files):
            suite = read_suite(place, pair=f"{self.source}-{self.target}")
            held = _READ[place] = digests(suite.files), suite
        return held[1]

    def for_model(self, model: str) -> SuiteParams:
        """A copy of the parameters for one model."""
        return self.model_copy(update={"models": [model]})

    @property
    def pipeline(self) -> str:
        """The parser that gives the lemmas which words match by; "" if none is needed or installed."""
        if not any(matches_words(entry.wanted) for entry in self.read.entries):
            return ""
        try:
            spec = parser_for(self.target, self.parsers)
        except LanguageDataError:
            return ""
        return spec if self.target in self.parsers or check_parser(spec, self.target) is None else ""
