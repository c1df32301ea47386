"""The documentation: code runs, names can be imported, links lead somewhere, and the site can be built."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
#: Pages whose Python runs on its own; guides to extending nbkit have tests of their own.
SNIPPETS = [
    "README.md",
    *(f"docs/studies/{path.name}" for path in (ROOT / "docs/studies").glob("*.md")),
    "docs/systems.md",
]


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in one language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.thorough
@pytest.mark.parametrize("page", [page for page in SNIPPETS if blocks(page, "python")])
def test_code_on_a_page_runs_and_prints_what_it_says(page):
    """All blocks in one process, of few sentences; a comment below a print says what is printed."""
    code = "\n".join(blocks(page, "python"))
    expected = re.findall(r"^print\(.*\)\n# (.*)$", code, re.MULTILINE)
    code = code.replace("n_pairs=100", "n_pairs=5")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected


@pytest.mark.parametrize(("page", "commands"), [("README.md", 2), ("docs/studies/word-order.md", 1)])
def test_commands_print_what_a_page_shows(page, commands, tmp_path):
    """A block shows below a command all that it prints, but for the note that no parser is there."""
    (tmp_path / "source.txt").write_text("It is 1.5 km long.\nShe paid 12,300 dollars in 1998.\n", encoding="utf-8")
    hypotheses = "Es ist 1,5 km lang.\nSie zahlte 12.300 Dollar im Jahr 1989.\n"
    (tmp_path / "hypothesis.txt").write_text(hypotheses, encoding="utf-8")
    shown = re.findall(r"^```\n\$ nbkit (.*?)\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert len(shown) == commands
    without_data = {name: value for name, value in os.environ.items() if name != "NBKIT_DATA"}  # nor its parsers
    for command, output in shown:
        run = f"{sys.executable} -m nbkit {command}"
        done = subprocess.run(
            ["sh", "-c", run], capture_output=True, text=True, check=False, cwd=tmp_path, env=without_data
        )
        lines = [line for line in done.stderr.splitlines() if line and "that need no parse are shown" not in line]
        assert output.splitlines() == [*done.stdout.splitlines(), *lines]


def test_the_page_about_cards_lists_the_languages_with_number_rules():
    rules = {path.stem for path in (ROOT / "packages/nbquantities/nbquantities/languages").glob("*.yaml")}
    (row,) = re.findall("languages with number rules: (.*?) \\(", (ROOT / "docs/cards.md").read_text(encoding="utf-8"))
    assert set(row.split(", ")) == rules


def public_names() -> dict[str, set[str] | None]:
    """The page about the API: modules with the names in their rows, None for a row that means all of ``__all__``."""
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    found: dict[str, set[str] | None] = {}
    for modules, names in re.findall(r"^\| (`nbkit[^|]*) \| ([^|]*) \|$", page, re.MULTILINE):
        first, *others = re.findall(r"`([\w.]+)`", modules)
        for name in [first, *(first.rpartition(".")[0] + other for other in others)]:
            found[name] = None if "__all__" in names else set(re.findall(r"`(\w+)`", names))
    return found


def test_public_names_can_be_imported(subtests):
    """Each name of each row of the page about the API; where the module says what is public, it says the same."""
    rows = public_names()
    assert len(rows) > 20
    for module, names in rows.items():
        with subtests.test(module=module):
            found = importlib.import_module(module)
            for name in names or found.__all__:
                assert hasattr(found, name) or importlib.import_module(f"{module}.{name}")
            assert names in (None, set(getattr(found, "__all__", names)))


def test_the_page_about_the_api_has_all_that_declares_itself_public():
    modules = {path.relative_to(ROOT) for path in (ROOT / "nbkit").rglob("*.py") if "\n__all__" in path.read_text()}
    names = {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in modules}
    assert len(names) > 10 and names <= public_names().keys()


def test_run_files_on_pages_name_parameters_that_there_are():
    """Every study's page shows a run file; its parameters are those of the study."""
    from nbkit.studies import STUDIES

    seen = set()
    for page in PAGES:
        for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for run in (yaml.safe_load(block) or {}).get("runs", []) if "\nruns:" in f"\n{block}" else []:
                if run["study"] in STUDIES:
                    fields = STUDIES.get(run["study"]).params.model_fields
                    assert run.get("params", {}).keys() <= fields.keys(), page.name
                    seen.add(run["study"])
    assert seen == {"word_order", "numbers", "nli_permutation", "idioms", "disambiguation", "suite"}


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_links_lead_somewhere():
    """Links to files of the project exist; the site's own check covers what is below docs."""
    for page in PAGES:
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_the_site_is_built_without_a_warning_and_asks_nothing_of_the_network(tmp_path):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list(site.rglob("*.html"))
    assert len(pages) >= len(PAGES) - 1
    for page in pages:
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"?(https?:[^\s\">]+)", page.read_text())
        assert not [each for each in loaded if "canonical" not in each], page.name
