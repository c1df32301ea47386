"""The published values of the word-order paper, as printed, to be put beside a run's own.

Parthasarathi et al. 2021, "Sometimes We Want Ungrammatical Translations", Tables 1 to 6. The paper's figures are
drawings without numbers: "not printed".

>>> names()[:3], title("table3")
(['table1', 'table2', 'table3'], 'Table 3: number of flips by language and model')
>>> note("fig1")
'Published values: not printed, the paper shows Figure 1 as a drawing only.'
>>> is_printed("table2"), is_printed("fig2")
(True, False)
>>> load("table2").query("language == 'ja' and model == 'opus-mt'").beta.item()
0.69
>>> import pandas as pd
>>> ours = pd.DataFrame({"language": ["de", "xx"], "model": "opus-mt", "flips": [500, 7]})
>>> beside(ours, "table3", on=["language", "model"])[["language", "flips", "printed", "difference"]]
  language  flips      printed  difference
0       de    500          514       -14.0
1       xx      7  not printed         NaN
"""

from __future__ import annotations

from pathlib import Path

from nbkit.models import label as model_label
from nbkit.studies.paper import NOT_PRINTED, Paper

__all__ = [
    "NOT_PRINTED",
    "Paper",
    "WORD_ORDER",
    "beside",
    "is_printed",
    "load",
    "names",
    "note",
    "title",
    "value_column",
]

_FOLDER = Path(__file__).parent

#: Parthasarathi et al. 2021, "Sometimes We Want Ungrammatical Translations".
WORD_ORDER = Paper(_FOLDER, model_label)

names = WORD_ORDER.names
title = WORD_ORDER.title
note = WORD_ORDER.note
is_printed = WORD_ORDER.is_printed
value_column = WORD_ORDER.value_column
load = WORD_ORDER.load
beside = WORD_ORDER.beside
