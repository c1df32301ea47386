"""The shared look of all figures and tables; knows no study.

`theme` (colours, labels, symbols; its data is ``theme.yaml``), `panels` (what figures are drawn with, and copies beside
the report), `styles` (what tables are styled with).
"""
