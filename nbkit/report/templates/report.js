"use strict";
// The only script of a report: search, filters and deep links on the index, sortable tables, copies for the clipboard.
// Without it every page still reads as a plain list.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Filters: values of one facet widen the choice, facets narrow it; the choice is kept in the address.
  const box = document.querySelector(".filters");
  if (box) {
    const buttons = all("[data-facet]", box);
    const rows = all("[data-facets]").map((row) => [row, JSON.parse(row.dataset.facets)]);
    const clear = box.querySelector(".clear");
    const pressed = (button) => button.getAttribute("aria-pressed") === "true";
    const chosen = () => {
      const choice = new Map();
      for (const button of buttons.filter(pressed)) {
        const { facet, value } = button.dataset;
        choice.set(facet, [...(choice.get(facet) || []), value]);
      }
      return choice;
    };
    const show = () => {
      const choice = [...chosen()];
      let shown = 0;
      for (const [row, facets] of rows) {
        row.hidden = !choice.every(([facet, values]) => values.includes(facets[facet]));
        shown += !row.hidden;
      }
      clear.hidden = choice.length === 0;
      box.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
    };
    const readAddress = () => {
      const wanted = new URLSearchParams(location.hash.slice(1));
      for (const button of buttons) {
        const { facet, value } = button.dataset;
        button.setAttribute("aria-pressed", String(wanted.getAll(facet).includes(value)));
      }
      show();
    };
    const writeAddress = () => {
      const address = new URLSearchParams();
      for (const [facet, values] of chosen()) for (const value of values) address.append(facet, value);
      history.replaceState(null, "", `#${address}`);
      show();
    };
    for (const button of buttons) {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(!pressed(button)));
        writeAddress();
      });
    }
    clear.addEventListener("click", () => {
      for (const button of buttons) button.setAttribute("aria-pressed", "false");
      writeAddress();
    });
    addEventListener("hashchange", readAddress);
    readAddress();
    box.hidden = false;
  }

  // Search: pages with all words of it; what is before a word counts too ("accept" finds "acceptance").
  const field = document.querySelector("#search");
  if (field) {
    const pages = all("[data-search]"), sections = all(".study");
    const search = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const page of pages) page.hidden = !words.every((word) => page.dataset.search.includes(word));
      for (const section of sections) section.hidden = words.length > 0 && !section.querySelector("[data-search]:not([hidden])");
      const found = pages.filter((page) => !page.hidden).length;
      field.parentElement.querySelector("output").textContent = words.length ? `${found} of ${pages.length} pages` : "";
    };
    field.addEventListener("input", search);
    field.parentElement.hidden = false;
    search();
  }

  // Copies: the text that a fold holds.
  for (const fold of all("details.copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy as LaTeX";
    button.addEventListener("click", async () => {
      const text = fold.querySelector("pre");
      getSelection().selectAllChildren(text);
      try { await navigator.clipboard.writeText(text.textContent); } catch { document.execCommand("copy"); }
      button.textContent = "Copied";
    });
    fold.append(button);
  }

  // What can be scrolled can be reached by keyboard.
  for (const box of all(".rich, .source .highlight")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", (box.querySelector("caption") || {}).textContent || "Table or code, wider than the page");
    }
  }

  // Sorting: a click on a header of the last header row; numbers by value, everything else by text.
  const keyOf = (cell) => {
    if (!cell) return ["", NaN];
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    const number = text.replace(/[\u2212\u2013]/g, "-").match(/^[^\p{L}\d-]*(-?\d[\d,\u2009\u202f]*\.?\d*(?:e[-+]?\d+)?)/u);
    return [text, number ? Number(number[1].replace(/[,\u2009\u202f]/g, "")) : NaN];
  };
  const byKey = ([aText, aNumber], [bText, bNumber]) => {
    const aIs = !Number.isNaN(aNumber), bIs = !Number.isNaN(bNumber);
    if (aIs && bIs) return aNumber - bNumber;
    return aIs === bIs ? aText.localeCompare(bText) : bIs - aIs;
  };
  for (const table of all("table")) {
    const body = table.tBodies[0], head = table.tHead && table.tHead.rows[0];
    const spans = all("[rowspan]:not([rowspan='1']), [colspan]:not([colspan='1'])", table).length > 0;
    // pandas writes the index name into a second header row; the names of the columns stand in the first.
    if (!head || spans || table.tHead.rows.length > 2 || !body) continue;
    [...head.cells].forEach((header, column) => {
      const cells = [...body.rows].map((row) => row.cells[column]).filter(Boolean);
      const words = cells.filter((cell) => /^\s*\p{L}{2}/u.test(cell.textContent)).length > cells.length / 2;
      if (words) for (const cell of [header, ...cells]) cell.classList.add("words");
      if (!header.textContent.trim() || cells.length < 3 || table.matches(".items")) return;
      const button = document.createElement("button");
      button.type = "button";
      if (header.querySelector("a")) button.setAttribute("aria-label", `Sort by ${header.textContent.trim()}`);
      else button.append(...header.childNodes); // a button may not hold a link
      header.append(button);
      header.setAttribute("aria-sort", "none");
      header.addEventListener("click", () => {
        const down = header.getAttribute("aria-sort") === "ascending";
        for (const other of all("[aria-sort]", table)) other.setAttribute("aria-sort", "none");
        header.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keyed = [...body.rows].map((row) => [keyOf(row.cells[column]), row]);
        keyed.sort((a, b) => (down ? -1 : 1) * byKey(a[0], b[0]));
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }
})();
