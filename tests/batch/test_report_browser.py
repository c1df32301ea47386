"""The report in headless Chromium, from disk and without a network."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from nbkit.report import site as report
from tests.pages import violations

pytestmark = pytest.mark.browser

GRID = "table.runs tbody tr"


@pytest.fixture
def pages(finished_run: Path, browser) -> dict[str, str]:
    """The addresses of all pages by name, the index first."""
    index = report.build(finished_run)
    browser.get("about:blank")
    for kind in ("performance", "browser"):
        browser.get_log(kind)
    return {"index": index.as_uri()} | {p.stem: p.as_uri() for p in sorted((finished_run / "html").glob("*.html"))}


def shown(browser, selector: str) -> list[str]:
    """The texts of the elements that can be seen."""
    elements = browser.find_elements("css selector", selector)
    return [element.text for element in elements if element.is_displayed()]


def click(browser, selector: str) -> None:
    browser.find_element("css selector", selector).click()


def test_no_page_asks_for_anything_or_violates_its_policy(pages: dict[str, str], browser):
    for address in pages.values():
        browser.get(address)
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if not url.startswith("data:")} == set(pages.values())
    assert browser.get_log("browser") == []  # no broken picture, no script that was stopped, no error in ours


@pytest.mark.thorough
def test_pages_are_accessible(pages: dict[str, str], browser):
    assert not {name: found for name, address in pages.items() if (found := violations(browser, address))}


def test_nothing_that_stands_in_corpus_text_is_run(pages: dict[str, str], browser):
    for name, address in pages.items():
        browser.get(address)
        assert browser.execute_script("return window.ran") is None, name
        assert len(browser.find_elements("tag name", "script")) == 1, name
    browser.get(pages["word_order-summary"])
    text = browser.find_element("tag name", "main").text
    # in prose, printed, in a table written by hand, three times in a styled one
    assert text.count("Der <script>window.ran = 1</script>") == 6
    browser.get(pages["word_order-lengths-ja-opus-mt"])
    traceback = browser.find_element("css selector", ".traceback").text
    assert "ValueError: no tree for Der <script>window.ran = 1</script> Hund & das <b>Vogelhaus</b>" in traceback
    browser.get(pages["index"])
    assert "m2m<script>window.ran = 3</script>" in browser.find_element("css selector", "table.runs").text


def test_known_attacks_leave_the_policy_nothing_to_stop(tmp_path: Path, browser):
    attacks = (Path(__file__).parent / "attacks.txt").read_text().splitlines()
    html = [{"output_type": "display_data", "metadata": {}, "data": {"text/html": attack}} for attack in attacks]
    texts = [{"output_type": "stream", "name": "stdout", "text": attack} for attack in attacks]
    code = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": "1", "outputs": html + texts}
    prose = [{"cell_type": "markdown", "metadata": {}, "source": attack} for attack in attacks]
    for room, name, content in (
        (".", "run.json", {"title": attacks[0]}),
        ("cells", "a.json", {"status": attacks[0], "title": attacks[2], "tags": {"model": attacks[2]}}),
        ("notebooks", "a.ipynb", {"cells": [code, *prose], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}),
    ):
        (tmp_path / room).mkdir(exist_ok=True)
        (tmp_path / room / name).write_text(json.dumps(content))
    index = report.build(tmp_path)
    browser.get_log("browser")
    for page in (index, tmp_path / "html" / "a.html"):
        browser.get(page.as_uri())
        assert browser.get_log("browser") == []  # a script or a picture that was blocked would be told here
        handlers = (
            "return [...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames()).filter(n => /^on/.test(n))"
        )
        assert browser.execute_script(handlers) == []
        assert len(browser.find_elements("css selector", "script")) == 1
        assert (
            browser.find_elements(
                "css selector", "main :is(svg, math, iframe, form, input:not(#show-code), object, style)"
            )
            == []
        )


def test_pictures_are_there_and_named(pages: dict[str, str], browser):
    browser.get(pages["word_order-summary"])
    pictures = browser.find_elements("css selector", "figure img")
    assert len(pictures) == 2
    for picture in pictures:
        assert int(picture.get_property("naturalWidth")) > 100
        assert picture.get_attribute("alt") == "Figure: Robust or faithful?"


def test_filters_narrow_the_table_and_are_kept_in_the_address(pages: dict[str, str], browser):
    browser.get(pages["index"])
    assert len(shown(browser, GRID)) == 5
    click(browser, "[data-facet=language][data-value=ja]")
    assert len(shown(browser, GRID)) == 3
    click(browser, "[data-facet=model][data-value=opus-mt]")
    click(browser, "[data-facet=status][data-value=done]")
    assert len(shown(browser, GRID)) == 1
    assert shown(browser, ".filters output") == ["1 of 5 shown"]
    address = browser.current_url
    assert address.endswith("#language=ja&model=opus-mt&status=done")
    click(browser, "[data-facet=language][data-value=de]")  # values of one facet widen the choice
    assert len(shown(browser, GRID)) == 2
    click(browser, ".clear")
    assert len(shown(browser, GRID)) == 5
    browser.get("about:blank")
    browser.get(address)
    assert len(shown(browser, GRID)) == 1
    pressed = browser.find_elements("css selector", "[aria-pressed=true]")
    assert [button.text for button in pressed] == ["Japanese (ja)", "opus-mt", "done"]


def test_a_click_on_a_header_sorts_by_value(pages: dict[str, str], browser):
    browser.get(pages["word_order-summary"])
    headers = browser.find_elements("css selector", "th[aria-sort]")
    header = next(header for header in headers if header.text.startswith("N"))
    column = "return [...arguments[0].closest('table').tBodies[0].rows].map(row => row.cells[1].textContent.trim())"
    header.find_element("tag name", "button").click()
    assert browser.execute_script(column, header) == ["87", "412", "998", "1000"]
    assert header.get_attribute("aria-sort") == "ascending"
    header.click()
    assert browser.execute_script(column, header) == ["1000", "998", "412", "87"]
    assert header.get_attribute("aria-sort") == "descending"


def test_code_is_folded_until_asked_for(pages: dict[str, str], browser):
    browser.get(pages["word_order-summary"])
    assert shown(browser, ".source pre") == []
    click(browser, ".folds label")
    assert len(shown(browser, ".source pre")) == len(browser.find_elements("css selector", ".source pre")) > 1
    click(browser, "#show-code")
    assert shown(browser, ".source pre") == []


def test_pages_lead_to_each_other(pages: dict[str, str], browser):
    browser.get(pages["index"])
    click(browser, ".failure a")
    assert browser.current_url == pages["word_order-lengths-ja-opus-mt"] + "#failure"
    click(browser, "a.home")
    click(browser, ".cards a")
    seen = [browser.current_url]
    while following := browser.find_elements("css selector", "a[rel=next]"):
        following[0].click()
        seen.append(browser.current_url)
    assert sorted(seen) == sorted(address for name, address in pages.items() if name != "index")


def test_the_page_reads_without_its_script(pages: dict[str, str], browser):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(pages["index"])
        assert len(shown(browser, GRID)) == 5
        assert shown(browser, ".filters") == [] and shown(browser, ".folds") == []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_nothing_is_wider_than_a_telephone(pages: dict[str, str], browser):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        for name, address in pages.items():
            browser.get(address)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 390, name
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


_WIDE_TABLE = """
const box = document.querySelector(".rich");
box.innerHTML = `<table><caption>${"word ".repeat(200)}</caption><tr><td>${"x".repeat(600)}</td></tr></table>`;
const of = (each) => each.getBoundingClientRect().right;
return [of(box.querySelector("caption")), of(box), of(box.querySelector("table"))];
"""


@pytest.mark.parametrize("width", [390, 1000, 1300])
def test_the_caption_of_a_wide_table_can_be_read_without_scrolling(width: int, pages: dict[str, str], browser):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(pages["word_order-summary"])
        caption, box, table = browser.execute_script(_WIDE_TABLE)
        assert caption <= box < table
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_search_leaves_pages_with_all_words(pages: dict[str, str], browser):
    browser.get(pages["index"])
    everything = len(shown(browser, "[data-search]"))
    field = browser.find_element("css selector", "#search")
    field.send_keys("robust faithful")
    found = shown(browser, "[data-search]")
    assert 0 < len(found) < everything
    assert shown(browser, ".search output") == [f"{len(found)} of {everything} pages"]
    field.send_keys(" nowhere")
    assert shown(browser, "[data-search]") == [] and shown(browser, ".study") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_can_be_read_by_everybody(scheme: str, pages: dict[str, str], browser):
    """The rules that axe-core checks too, which is asked where it is installed: names, headings, contrast of text."""
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        for name, address in pages.items():
            browser.get(address)
            levels = [int(each.tag_name[1]) for each in browser.find_elements("css selector", "main :is(h1,h2,h3,h4)")]
            assert all(after - before <= 1 for before, after in pairwise([1, *levels])), name
            assert browser.execute_script(_NAMELESS) == [], name
            assert browser.execute_script(_PALE) == [], name
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, pages: dict[str, str], browser):
    axe = pytest.importorskip("axe_core_python", reason="needs axe-core-python")
    script = Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        for name, address in pages.items():
            browser.get(address)
            browser.execute_script(
                "for (const each of document.querySelectorAll('details')) each.open = true;" + script
            )
            found = browser.execute_async_script(
                "axe.run(document, {resultTypes: ['violations']}).then(r => arguments[0]("
                "r.violations.map(v => [v.id, v.nodes[0].html.slice(0, 200)])))"
            )
            assert found == [], name
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# Pictures, links, buttons and fields that nothing names; ids that stand twice.
_NAMELESS = """
const named = e => (e.getAttribute("aria-label") || e.getAttribute("alt") || e.textContent || "").trim()
  || (e.labels && e.labels.length);
const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
const all = [...document.querySelectorAll("img, a[href], button, input, svg[role=img]")];
return [...all.filter(e => !named(e)).map(e => e.outerHTML),
  ...ids.filter((id, place) => ids.indexOf(id) !== place)];
"""
# Text below 4.5:1 (WCAG 2.1, AA); what stands on more than one colour (a gradient) is not judged.
_PALE = """
const parts = text => (text.match(/[\\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => [r, g, b].map(x => x / 255).map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
  .reduce((sum, x, i) => sum + x * [.2126, .7152, .0722][i], 0);
const ground = e => {
  for (; e; e = e.parentElement) {
    const colour = parts(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const pale = [];
for (const e of document.querySelectorAll("body *")) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest("svg, math")) continue;
  const [a, b] = [light(parts(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
  if ((a + .05) / (b + .05) < 4.5) pale.push(e.outerHTML.slice(0, 200));
}
return pale;
"""
