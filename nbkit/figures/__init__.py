"""Tables into seaborn figures and styled tables; one theme for the whole project.

`theme` (colours, labels, symbols), `panels` (what figures are drawn with), `styles` (what tables are
styled with), `save` (copies beside the report) and one or more modules a paper.
"""
