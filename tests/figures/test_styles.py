"""How tables are shown, whatever the study."""

from __future__ import annotations

import pandas as pd

from nbkit.figures import styles


def test_a_word_that_never_ends_does_not_widen_a_table():
    table = styles.styled(pd.DataFrame({"translation": ["l'" + "é" * 100, "a < b"], "n": [1, 2]}))
    html = table.to_html()
    assert html.count("<wbr>") == 2 and "a &lt; b" in html
    assert "wbr" not in styles.to_latex(table)
    assert styles.marked("x" * 90, [(0, 50)]).count("<wbr>") == 1
