"""The disambiguation study as it declares itself: its grid, its models, what can be wrong beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from nbkit.corpora import check_corpus, find_corpus, is_endless, load_pairs
from nbkit.corpora.corpus import FileCorpus
from nbkit.corpora.homographs import check_homographs
from nbkit.errors import NbkitError
from nbkit.files import expand_path, file_digest
from nbkit.measure.aligners import check_aligner
from nbkit.models import label
from nbkit.perturb.word_sense import grammar_identity, grammar_problem
from nbkit.studies.base import Notebook
from nbkit.studies.disambiguation.params import DisambiguationParams
from nbkit.studies.engine import LANGUAGE_MODEL, TRANSLATOR, Axis, Study, Use
from nbkit.text.parsers import check_parser, parser_for

#: Seeds whose samples are made, kept and translated together: memory does not grow with their number.
CHUNK = 200
#: Parts that seeds are handled in at most, each a unit of work.
MOST_PARTS = 16


def uses_translator(params: DisambiguationParams, model: str, **_: Any) -> list[Use]:
    """The translator of one point of the grid."""
    return [Use(TRANSLATOR, model, (params.source, params.target))]


def uses_masked(params: DisambiguationParams, **_: Any) -> list[Use]:
    """The language model that seeds are filtered by."""
    found = params.masked_lm
    return [] if found is None else [Use(LANGUAGE_MODEL, found, (params.target,), "masked")]


def uses_language_models(params: DisambiguationParams, **_: Any) -> list[Use]:
    """The language models that samples are filtered by."""
    own = [] if params.causal_lm is None else [Use(LANGUAGE_MODEL, params.causal_lm, (params.source,))]
    return [*uses_masked(params), *own]


def parts(params: DisambiguationParams) -> list[tuple[int, int]]:
    """In which parts seeds are handled: number and how many. How many seeds there are is known when test pairs are
    found, but for the limit.
    """
    n = MOST_PARTS if params.n_seeds is None else min(MOST_PARTS, -(-params.n_seeds // CHUNK))
    return [(part, n) for part in range(n)]


def _problems(params: DisambiguationParams) -> Iterator[str | None]:
    """What stands in the way of this run beside its models; loads none."""
    source, target, parsers = params.source, params.target, params.parsers or None
    for corpus in dict.fromkeys([params.training_corpus, *params.test_corpora]):
        n = params.training_pairs if corpus == params.training_corpus else params.n_pairs
        yield from check_corpus(corpus, source, target, parsers, n=n, on_error=params.on_error)
    yield from _endless_problems(params)
    yield check_homographs(params.lexicon, target, src=source, on_conflict=params.on_conflict)
    yield from _link_problems(params)
    yield check_aligner(params.hypothesis_aligner, source, target)
    if params.target_words == "lemmas":
        yield check_parser(parser_for(target, parsers), target)
    for path in annotation_files(params):
        if not Path(path).is_file():
            yield f"annotations: there is no file {path}"


def _endless_problems(params: DisambiguationParams) -> Iterator[str]:
    wanted = [(params.training_corpus, "training_pairs", params.training_pairs)]
    wanted += [(corpus, "n_pairs", params.n_pairs) for corpus in params.test_corpora]
    for corpus, name, n in wanted:
        with suppress(NbkitError):  # `check_corpus` says what is wrong with it
            if n is None and is_endless(corpus):
                yield f"corpus '{corpus}' has no last pair: say how many are wanted ({name})"


def _link_problems(params: DisambiguationParams) -> Iterator[str | None]:
    """What is wrong with the links of the corpora; gold ones have to be there in all of them."""
    if params.aligner != "gold":
        problem = check_aligner(params.aligner, params.source, params.target)
        try:
            if problem is None:
                params.mined.aligner_key()  # malformed lines that may be left out move the places of a file's links
        except NbkitError as error:
            problem = str(error)
        yield problem
        return
    for corpus in dict.fromkeys([params.training_corpus, *params.test_corpora]):
        with suppress(NbkitError):
            if not _has_links(params, corpus):
                yield f"corpus '{corpus}' has no gold links: name what is to link its pairs (aligner: eflomal)"


def _has_links(params: DisambiguationParams, corpus: str) -> bool:
    """Whether a corpus has gold links: one in files has none, of another one the first pair tells."""
    if isinstance(find_corpus(corpus)[0], FileCorpus):
        return False
    first = next(load_pairs(corpus, params.source, params.target, n=1, parsers=params.parsers or None), None)
    return first is None or first.alignment is not None


def _inputs(params: DisambiguationParams) -> dict[str, Any]:
    """Digests of what the parameters stand for: corpora, sense clusters, models, filled forms."""
    return {
        "samples": params.samples_key(),
        "models": {model: params.translation_key(model) for model in params.translated_by},
        "grammar": None if params.grammar == "off" else [grammar_identity(), grammar_problem()],
        "annotations": {path: file_digest(path) for path in annotation_files(params) if Path(path).is_file()},
    }


def annotation_files(params: DisambiguationParams) -> list[str]:
    """All forms and keys that the parameters name."""
    forms = [*params.annotations.values(), *params.naturalness.values()]
    keys = [key for key in (params.annotation_key, params.naturalness_key) if key]
    return [expand_path(path, "annotations") for path in (*forms, *keys)]


STUDY = Study(
    name="disambiguation",
    title="Disambiguation: can wrong senses be predicted and provoked?",
    paper="Emelin, Titov and Sennrich (2020), Detecting Word Sense Disambiguation Biases in Machine Translation for "
    "Model-Agnostic Adversarial Attacks",
    params=DisambiguationParams,
    axes={
        "corpus": Axis(lambda params: [params.domain]),
        "model": Axis(lambda params: params.models, label),
        "translator": Axis(lambda params: params.translated_by, label),
        "part": Axis(parts, lambda part: f"{part[0] + 1}/{part[1]}" if part[1] > 1 else "", tuple),
    },
    grid=("corpus", "model"),
    verdict="pass: the sense of the gold translation; fail: another; undecided: no sense shows, or several do",
    tags=lambda params: {"language": params.target},
    check=_problems,
    inputs=_inputs,
    uses=lambda params: [
        *(use for model in params.translated_by for use in uses_translator(params, model)),
        *uses_language_models(params),
    ],
    # In the order in which the report shows them; a test compares titles with the notebooks.
    notebooks=(
        Notebook("disambiguation/attractors", "Which words go with which sense?", "grid"),
        Notebook("disambiguation/models", "How good are the models?", "grid"),
        Notebook("disambiguation/error_prediction", "Can wrong senses be predicted?", "grid"),
        Notebook("disambiguation/challenge_sets", "Are biased sentences harder?", "grid"),
        Notebook("disambiguation/attack_samples", "What do the attacks look like?", "grid"),
        Notebook("disambiguation/attack_success", "Which attacks succeed?", "grid"),
        Notebook("disambiguation/transferability", "Do attacks carry over to other models?", "grid"),
        Notebook("disambiguation/sample_quality", "Would a reader notice the attack?", "grid"),
        Notebook("disambiguation/model_card", "How does this model choose between senses?", "cell"),
    ),
)
