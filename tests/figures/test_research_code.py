"""What the research code does differently: the data of every paper, and the table that pages show."""

from __future__ import annotations

import pandas as pd
import pytest

from nbkit.studies import STUDIES
from nbkit.studies.notebook import research_code
from nbkit.studies.paper import RESEARCH_CODE, Paper

PAPERS = {name: STUDIES.get(name).printed for name in STUDIES if name != "suite"}


@pytest.mark.parametrize("name", PAPERS)
def test_every_difference_says_what_both_do_and_how_much_it_changes(name):
    table = PAPERS[name].research_code()
    assert list(table) == list(RESEARCH_CODE)
    assert not table["topic"].duplicated().any()
    assert table[["topic", "paper", "code", "ours"]].ne("").all(axis=None)
    measured = table["changes"].notna()
    assert table.loc[measured, "changes"].between(0, 1).all()
    assert (table["of"].ne("") == measured).all()  # a share is of something


def test_a_page_shows_them_and_nothing_without_any(tmp_path):
    assert research_code(Paper(tmp_path, str)) is None
    row = ("BLEU", "smoothed <b>", "metrics.py", "the paper's", 0.25, "4 cells", "")
    pd.DataFrame([row], columns=list(RESEARCH_CODE)).to_csv(tmp_path / "research_code.csv", index=False)
    html = research_code(Paper(tmp_path, str)).data
    assert "<summary>What the research code does differently</summary>" in html
    assert "25.0% of 4 cells" in html and "smoothed &lt;b&gt;" in html
    assert ">note<" not in html  # a column with nothing in it


def test_a_share_that_is_not_known_is_a_dash(tmp_path):
    row = ("BLEU", "smoothed", "metrics.py", "the paper's", "", "", "a note")
    pd.DataFrame([row], columns=list(RESEARCH_CODE)).to_csv(tmp_path / "research_code.csv", index=False)
    table = Paper(tmp_path, str).research_code()
    assert table["changes"].isna().all()
    assert ">–<" in research_code(Paper(tmp_path, str)).data
