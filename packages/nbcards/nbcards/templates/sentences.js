"use strict";
// The browser of sentences: unpacks the columns of this page, filters them and shows what is left.
// What is chosen stands in the address after "#", so that every view is a link.
(() => {
  const $ = (id) => document.getElementById(id);
  const NONE = -1, PAGE = 25;
  const make = (tag, properties = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...inside);
    return element;
  };

  // ---- Unpacking: the length of the head, the head (JSON), columns of 4 bytes a number, all texts.
  // The page holds it in parts, each dropped when read, and all is unpacked into one buffer, which the columns share.
  const bytesOf = (holder) => {
    const written = atob(holder.textContent);
    holder.remove();
    const bytes = new Uint8Array(written.length);
    for (let i = 0; i < written.length; i++) bytes[i] = written.charCodeAt(i);
    return bytes;
  };
  const unpack = async () => {
    const holders = [...document.querySelectorAll(".packed")];
    const bytes = new Uint8Array(Number(holders[0].dataset.size));
    const packed = new ReadableStream({
      pull: (to) => { if (holders.length) to.enqueue(bytesOf(holders.shift())); else to.close(); },
    });
    const parts = packed.pipeThrough(new DecompressionStream("deflate")).getReader();
    let at = 0;
    for (let part = await parts.read(); !part.done; part = await parts.read()) {
      bytes.set(part.value, at);
      at += part.value.length;
    }
    const decode = (from, to) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(from, to));
    at = 4 + new DataView(bytes.buffer).getUint32(0, true);
    const data = JSON.parse(decode(4, at));
    for (const [name, kind, length] of data.columns) {
      data[name] = new (kind === "f" ? Float32Array : Int32Array)(bytes.buffer, at, length);
      at += 4 * length;
    }
    // Texts stay bytes until they are shown. A zero ends each; the last of the starts is where they all end.
    data.texts = bytes.subarray(at);
    data.text = (number) => decode(at + data.starts[number], at + data.starts[number + 1] - 1);
    data.answers = firsts(data.item, data.entry.length);
    data.results = firsts(data.answer, data.item.length);
    return data;
  };
  // Where the rows of each of *n* owners begin, of rows in the order of their owners.
  const firsts = (owners, n) => {
    const found = new Int32Array(n + 1);
    for (const owner of owners) found[owner + 1]++;
    for (let i = 0; i < n; i++) found[i + 1] += found[i];
    return found;
  };

  const start = (data) => {
    const N = data.entry.length;
    const text = (number) => data.text(number);
    // The one letter that gets longer in lower case would shift all places behind it.
    const low = (written) => written.replaceAll("İ", "I").toLowerCase();
    // Each letter of lower case with the others that become it; found once, when something is searched.
    let capitals;
    const readCapitals = () => {
      capitals = new Map([["ς", ["Σ"]]]); // which becomes σ or ς, as the next letter wants it
      for (let code = 0; code < 0x20000; code++) {
        const letter = String.fromCodePoint(code);
        if (letter.toLowerCase() === letter) continue;
        const small = low(letter);
        capitals.set(small, [...(capitals.get(small) ?? []), letter]);
      }
      return capitals;
    };
    const pairs = data.directions.map((direction) => direction.split("-"));
    const number = (value) => Number.isNaN(value) ? "–" : String(Number(value.toPrecision(4))).replace("-", "\u2212");

    // ---- What can be chosen.
    const several = (entry) => data.entries.filter((other) => other.study === entry.study).length > 1;
    const entryLabel = (entry) => entry.title + (several(entry) ? ` · ${entry.name}` : "");
    const options = {
      study: [
        ...new Map(data.entries.filter(several).map((entry) => [entry.study, `${entry.title} (all)`])),
        ...data.entries.map((entry) => [several(entry) ? `entry:${entry.name}` : entry.study, entryLabel(entry)]),
      ],
      system: data.systems.map((name) => [name, name]),
      direction: data.directions.map((name) => [name, name.replace("-", " → ")]),
      measure: [...data.measures].sort().map((name) => [name, name]),
      verdict: data.verdicts.slice(1).map((name) => [name, name]),
      reason: data.reasons.filter(Boolean).sort().slice(0, 500).map((name) => [name, name]),
      sort: [["", "order of the run"], ["lowest", "lowest score first"], ["highest", "highest score first"],
             ["disagreement", "systems disagree most"]],
    };
    for (const [name, choices] of Object.entries(options)) {
      if (name !== "sort") $(name).append(new Option("all", ""));
      for (const [value, label] of choices) $(name).append(new Option(label, value));
    }
    const values = new Map(); // of each group, by its name
    for (const groups of data.groups) {
      for (const [key, value] of Object.entries(groups)) {
        if (!values.has(key)) values.set(key, new Set());
        values.get(key).add(value);
      }
    }
    const collate = new Intl.Collator("en", { numeric: true }).compare;
    $("group").append(new Option("group…", ""), ...[...values.keys()].sort().map((key) => new Option(key, key)));
    const fillValues = () => {
      const known = [...(values.get($("group").value) ?? [])].sort(collate);
      $("value").replaceChildren(new Option("value…", ""), ...known.map((value) => new Option(value, value)));
      $("value").disabled = known.length === 0;
    };

    // ---- What is chosen: fields of one value, groups of several, parts of the measure's name, what nothing is known of.
    const FIELDS = ["study", "system", "direction", "measure", "verdict", "reason", "from", "to", "text", "sort"];
    const ALIASES = { model: "system", classifier: "system", pair: "direction" };
    let chosen;
    const nothing = () => ({ fields: {}, language: "", item: "", groups: new Map(), parts: [], unknown: [] });
    const readAddress = () => {
      chosen = nothing();
      for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
        const field = ALIASES[key] ?? key;
        if (key === "entry") chosen.fields.study = options.study.some(([each]) => each === `entry:${value}`) ? `entry:${value}`
          : data.entries.find((entry) => entry.name === value)?.study ?? "";
        else if (key === "item") chosen.item = value;
        else if (key === "language" && pairs.some((pair) => pair.includes(value))) chosen.language = value;
        else if (options[field] ? options[field].some(([each]) => each === value) : FIELDS.includes(field)) chosen.fields[field] = value;
        else if (values.get(key)?.has(value)) chosen.groups.set(key, [...(chosen.groups.get(key) ?? []), value]);
        else if (data.measures.some((name) => name.split("/").includes(value))) chosen.parts.push(value);
        else if (key !== "column") chosen.unknown.push(`${key} = ${value}`);
      }
      for (const name of FIELDS) $(name).value = chosen.fields[name] ?? "";
      show();
    };
    const address = () => {
      const found = new URLSearchParams();
      for (const name of FIELDS) if (chosen.fields[name]) found.append(name, chosen.fields[name]);
      const study = chosen.fields.study ?? "";
      if (study.startsWith("entry:")) { found.delete("study"); found.append("entry", study.slice(6)); }
      if (chosen.language) found.append("language", chosen.language);
      for (const [key, list] of chosen.groups) for (const value of list) found.append(key, value);
      for (const part of chosen.parts) found.append("part", part);
      if (chosen.item) found.append("item", chosen.item);
      return `#${found}`;
    };
    const changed = () => {
      history.replaceState(null, "", address());
      show();
    };

    // ---- Filtering: an item is shown if one of its results is what was asked for.
    // The texts with a term: their bytes are compared, as texts in lower case would take twice the memory. Places are
    // skipped by the last byte of the shortest that the term can be (Horspool's search, with several letters a place).
    const encoder = new TextEncoder();
    const searched = (term) => {
      capitals ??= readCapitals();
      const { texts, starts } = data, found = new Uint8Array(starts.length - 1);
      const letters = [...term].map((letter) => [letter, ...(capitals.get(letter) ?? [])].map((each) => encoder.encode(each)));
      const bytesAt = [];
      let ends = new Set([0]); // a capital may have more bytes
      for (const some of letters) {
        for (const from of ends) for (const bytes of some) bytes.forEach((byte, i) => (bytesAt[from + i] ??= new Set()).add(byte));
        ends = new Set([...ends].flatMap((from) => some.map((bytes) => from + bytes.length)));
      }
      const last = Math.min(...ends, 255) - 1;
      const skip = new Uint8Array(256).fill(last + 1), can = new Uint8Array(256 * (last + 1)); // can: byte by byte
      bytesAt.slice(0, last).forEach((some, i) => { for (const byte of some) skip[byte] = last - i; });
      bytesAt.slice(0, last + 1).forEach((some, i) => { for (const byte of some) can[256 * i + byte] = 1; });
      const isExact = last < 254 && letters.every((some) => some.every((bytes) => bytes.length === 1));
      const is = (bytes, at) => {
        for (let i = 0; i < bytes.length; i++) if (texts[at + i] !== bytes[i]) return false;
        return true;
      };
      const isHit = (at) => {
        for (let i = last; i >= 0; i--) if (!can[256 * i + texts[at + i]]) return false;
        if (isExact) return true;
        for (const some of letters) {
          let length = 0;
          for (let i = 0; i < some.length && !length; i++) if (is(some[i], at)) length = some[i].length;
          if (!length) return false;
          at += length;
        }
        return true;
      };
      for (let at = last, number = 0; at < texts.length; at += skip[texts[at]]) {
        if (!isHit(at - last)) continue;
        while (starts[number + 1] <= at) number++;
        found[number] = 1;
        at = starts[number + 1] - 1; // the zero behind it
      }
      return found;
    };
    const terms = () => ((chosen.fields.text ?? "").match(/"[^"]+"|\S+/g) ?? [])
      .map((term) => low(term.replaceAll('"', ""))).filter(Boolean);
    const mask = (list, is) => Uint8Array.from(list, (each, i) => is(each, i));
    const filtered = () => {
      const { study, system, direction, measure, verdict, reason, from, to, sort } = chosen.fields;
      const entries = mask(data.entries, (entry) => !study || study === entry.study || study === `entry:${entry.name}`);
      const directions = mask(data.directions, (name, i) => (!direction || name === direction) &&
        (!chosen.language || pairs[i].includes(chosen.language)));
      const systems = mask(data.systems, (name) => !system || name === system);
      const measures = mask(data.measures, (name) => (!measure || name === measure) &&
        chosen.parts.every((part) => name.split("/").includes(part)));
      const verdicts = mask(data.verdicts, (name) => !verdict || name === verdict);
      const reasons = mask(data.reasons, (name) => !reason || name === reason);
      const wanted = [...chosen.groups];
      const groups = mask(data.groups, (each) => wanted.every(([key, list]) => list.includes(each[key])));
      const least = from ? Number(from) : -Infinity, most = to ? Number(to) : Infinity;
      const anyScore = !from && !to;
      const hits = terms().map(searched), { source, changed, reference, output } = data;
      const found = [], keys = [];
      const low = new Float64Array(data.measures.length), high = new Float64Array(data.measures.length);
      for (let i = 0; i < N; i++) {
        if (!entries[data.entry[i]] || !directions[data.direction[i]] || (chosen.item && data.ids[i] !== chosen.item)) continue;
        const first = data.answers[i], last = data.answers[i + 1];
        let isFound = true;
        for (let t = 0; t < hits.length && isFound; t++) {
          const hit = hits[t];
          isFound = false;
          for (let a = first; a < last && !isFound; a++) {
            isFound = Boolean(hit[source[a]] || hit[changed[a]] || hit[reference[a]] || hit[output[a]]);
          }
        }
        if (!isFound) continue;
        let is = false, lowest = Infinity, highest = -Infinity;
        for (let a = first; a < last; a++) {
          if (!systems[data.system[a]] || !groups[data.groupsOf[a]]) continue;
          for (let r = data.results[a]; r < data.results[a + 1]; r++) {
            const value = data.value[r];
            if (!measures[data.measure[r]] || !verdicts[data.verdict[r]] || !reasons[data.reason[r]]) continue;
            if (!anyScore && !(value >= least && value <= most)) continue;
            is = true;
            if (!sort) break;
            if (value < lowest) lowest = value;
            if (value > highest) highest = value;
          }
          if (is && !sort) break;
        }
        if (!is) continue;
        found.push(i);
        if (sort === "disagreement") {
          low.fill(Infinity);
          high.fill(-Infinity);
          highest = 0;
          for (let r = data.results[first]; r < data.results[last]; r++) {
            const m = data.measure[r], value = data.value[r];
            if (!measures[m] || !groups[data.groupsOf[data.answer[r]]] || Number.isNaN(value)) continue;
            if (value < low[m]) low[m] = value;
            if (value > high[m]) high[m] = value;
            if (high[m] - low[m] > highest) highest = high[m] - low[m];
          }
        }
        if (sort) keys.push(sort === "lowest" ? lowest : -highest);
      }
      if (!sort) return found;
      // A key's bits, in the order of the numbers, and the place in one number: sorted without a function.
      const bits = new Uint32Array(new Float32Array(keys).buffer);
      const joined = new Float64Array(found.length);
      for (let i = 0; i < found.length; i++) {
        const ordered = bits[i] & 0x80000000 ? ~bits[i] >>> 0 : (bits[i] | 0x80000000) >>> 0;
        joined[i] = ordered * 2 ** 20 + i;
      }
      joined.sort();
      return Array.from(joined, (each) => found[each % 2 ** 20]);
    };

    // ---- Showing.
    let list = [], shown = 0, current = -1;
    const kept = new Set();
    const more = () => {
      const parts = list.slice(shown, shown + PAGE).map(article);
      shown += parts.length;
      $("items").append(...parts);
      $("more").hidden = shown >= list.length;
      return parts.length > 0;
    };
    const show = () => {
      list = filtered();
      shown = 0;
      current = -1;
      $("items").replaceChildren();
      more();
      $("count").textContent = `${list.length.toLocaleString("en")} of ${N.toLocaleString("en")} items`;
      const rows = [
        ...(chosen.language ? [["language", chosen.language, () => { chosen.language = ""; }]] : []),
        ...[...chosen.groups].flatMap(([key, some]) => some.map((value) => [key, value, () => {
          const left = some.filter((each) => each !== value);
          if (left.length) chosen.groups.set(key, left); else chosen.groups.delete(key);
        }])),
        ...chosen.parts.map((part) => ["measure", part, () => { chosen.parts = chosen.parts.filter((each) => each !== part); }]),
        ...(chosen.item ? [["item", chosen.item.slice(0, 8), () => { chosen.item = ""; }]] : []),
      ];
      $("chosen").replaceChildren(...rows.map(([key, value, drop]) => make("li", {}, make("button", {
        type: "button", title: "Remove this filter", onclick: () => { drop(); changed(); },
      }, `${key}: ${value} ×`))));
      $("unknown").textContent = chosen.unknown.length ? `Not filtered by: ${chosen.unknown.join(", ")}` : "";
      $("clear").hidden = address() === "#";
    };

    // Marks: *spans* count code points, as Python does; the terms of a search are marked, too.
    const marked = (written, spans) => {
      const units = /[\ud800-\udbff]/.test(written) ? [...written].reduce((at, one) => [...at, at.at(-1) + one.length], [0]) : null;
      const ranges = spans.map(({ start, end, label }) => [units ? units[start] : start, units ? units[end] : end, label]);
      const plainly = low(written);
      for (const term of terms()) {
        for (let at = plainly.indexOf(term); at >= 0; at = plainly.indexOf(term, at + term.length)) ranges.push([at, at + term.length, "found"]);
      }
      const cuts = [...new Set([0, written.length, ...ranges.flatMap(([from, to]) => [from, to])])].sort((a, b) => a - b);
      return cuts.slice(1).map((to, i) => {
        const labels = [...new Set(ranges.filter((range) => range[0] <= cuts[i] && range[1] >= to).map((range) => range[2]))];
        const piece = written.slice(cuts[i], to);
        return labels.length ? make("mark", { title: labels.join(", "), className: labels.includes("found") ? "found" : "" }, piece) : piece;
      });
    };
    const line = (label, written, lang, spans) => {
      const said = make("dd", { lang, dir: "auto" }, ...marked(written, spans));
      const kinds = [...new Set(spans.map((span) => span.label))];
      if (kinds.length) said.append(" ", make("small", {}, `marked: ${kinds.join(", ")}`));
      return [make("dt", {}, label), said];
    };
    const spansOf = (answers, name) => {
      const found = new Map(); // by text: the marks of all answers
      for (const a of answers) {
        const spans = (data.spansOf[a] === NONE ? [] : data.spans[data.spansOf[a]]).filter((span) => span.text === name);
        const number = data[name][a];
        if (number !== NONE) found.set(number, new Map([...(found.get(number) ?? []), ...spans.map((span) => [JSON.stringify(span), span])]));
      }
      return [...found].map(([number, spans]) => [number, [...spans.values()]]);
    };
    const answersOf = (i) => Array.from({ length: data.answers[i + 1] - data.answers[i] }, (_, n) => data.answers[i] + n);
    const resultsOf = (a) => Array.from({ length: data.results[a + 1] - data.results[a] }, (_, n) => data.results[a] + n);
    // Verdicts with names of their own are neither right nor wrong.
    const CALLED = Object.assign({}, ...data.entries.map((entry) => entry.called));
    const SIGNS = { pass: "✓", fail: "✗", undecided: "?" };
    const chip = (r, remark) => {
      const verdict = data.verdicts[data.verdict[r]], reason = data.reasons[data.reason[r]];
      const isPlain = verdict === "undecided" || (verdict && [0, 1].includes(data.value[r]));
      const value = isPlain ? "" : ` ${number(data.value[r])}`;
      const name = data.measures[data.measure[r]], called = CALLED[name]?.[verdict];
      const said = `${called ? "" : (SIGNS[verdict] ?? "")} ${name}${value}${remark}${called || reason ? `: ${called || reason}` : ""}`;
      return make("span", { className: `result ${called ? "" : verdict}`, title: called || verdict }, said.trim());
    };
    const article = (i) => {
      const entry = data.entries[data.entry[i]], pair = pairs[data.direction[i]], answers = answersOf(i);
      const target = pair.at(-1);
      const groupsOf = (a) => Object.entries(data.groups[data.groupsOf[a]]).filter(([, value]) => value !== "");
      const shared = groupsOf(answers[0]).filter(([key, value]) => answers.every((a) => data.groups[data.groupsOf[a]][key] === value));
      const ownGroups = (a) => groupsOf(a).filter(([key]) => !shared.some(([each]) => each === key));
      const dl = make("dl", { className: "texts" });
      for (const [name, label, lang] of [["source", "source", pair[0]], ["changed", entry.changed, pair[0]], ["reference", "reference", target]]) {
        const found = spansOf(answers, name);
        found.forEach(([written, spans], n) => dl.append(...line(found.length > 1 ? `${label} ${n + 1}` : label, text(written), lang, spans)));
      }
      const references = spansOf(answers, "reference").map(([written]) => written);
      // Answers of one system that are the same text for the same input are one line.
      const lines = new Map();
      for (const a of answers) {
        const own = ownGroups(a);
        const key = JSON.stringify([data.system[a], data.output[a], data.changed[a], own]);
        lines.set(key, [...(lines.get(key) ?? []), a]);
      }
      const kinds = new Set(answers.map((a) => data.changed[a] === NONE));
      const outputs = make("dl", { className: "outputs" });
      const ordered = [...lines.values()].sort((a, b) => data.system[a[0]] - data.system[b[0]]);
      let before = NONE;
      for (const some of ordered) {
        const a = some[0], system = data.system[a];
        const said = make("dd", { lang: target, dir: "auto" });
        if (kinds.size > 1) said.append(make("small", {}, data.changed[a] === NONE ? "source: " : `${entry.changed}: `));
        if (data.output[a] !== NONE) for (const [written, spans] of spansOf(some, "output")) said.append(...marked(text(written), spans));
        const chips = some.flatMap((each) => resultsOf(each).map((r) =>
          chip(r, references.length > 1 ? ` (reference ${references.indexOf(data.reference[each]) + 1})` : "")));
        const own = ownGroups(a);
        const facts = own.map(([key, value]) => make("span", { className: "group" }, `${key}: ${value}`));
        said.append(make("p", { className: "results", lang: "en", dir: "ltr" }, ...facts, ...chips));
        if (system !== before) outputs.append(make("dt", {}, data.systems[system]));
        before = system;
        outputs.append(said);
      }
      const button = (label, title, onclick) => make("button", { type: "button", title, onclick }, label);
      const keep = button(kept.has(i) ? "Remove from list" : "Add to list", "Key: a", () => { toggle(i, keep); });
      keep.className = "keep";
      const link = make("a", { href: `#item=${data.ids[i]}`, title: "Link to this item" }, data.ids[i].slice(0, 8));
      return make("article", { tabIndex: -1, ariaLabel: `${entry.title}, item ${data.ids[i].slice(0, 8)}`, onfocus: (event) => {
        current = [...$("items").children].indexOf(event.currentTarget);
      } }, make("header", {},
        make("strong", {}, entryLabel(entry)), " ", make("span", {}, pair.join(" → ")), " ",
        ...shared.map(([key, value]) => make("span", { className: "group" }, `${key}: ${value}`)), " ", link,
      ), dl, outputs, make("p", { className: "tools" }, keep, " ", button("Copy as JSON", "Key: c", (event) => {
        copy(JSON.stringify(asObject(i), null, 2), event.currentTarget);
      })));
    };

    // ---- Out of the page: JSON, CSV, a corpus.
    const textOrNull = (written) => (written === NONE ? null : text(written));
    const asObject = (i) => ({
      study: data.entries[data.entry[i]].study, entry: data.entries[data.entry[i]].name, item: data.ids[i],
      source_language: pairs[data.direction[i]][0], target_language: pairs[data.direction[i]][1] ?? "",
      answers: answersOf(i).map((a) => ({
        system: data.systems[data.system[a]], groups: data.groups[data.groupsOf[a]],
        source: textOrNull(data.source[a]), changed: textOrNull(data.changed[a]), reference: textOrNull(data.reference[a]),
        output: textOrNull(data.output[a]), spans: data.spansOf[a] === NONE ? [] : data.spans[data.spansOf[a]],
        results: resultsOf(a).map((r) => ({
          measure: data.measures[data.measure[r]],
          value: Number.isNaN(data.value[r]) ? null : Number(data.value[r].toPrecision(7)),
          verdict: data.verdicts[data.verdict[r]] || null, reason: data.reasons[data.reason[r]],
        })),
      })),
    });
    const copy = async (content, button) => {
      try {
        await navigator.clipboard.writeText(content);
      } catch {
        const area = make("textarea", { value: content });
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = "Copied";
    };
    // As nbkit.files.plain_text: no text is a formula to a spreadsheet.
    const plain = (value) => typeof value === "string" && /^'*[=+\-@\t\r\n＝＋－＠]/.test(value) &&
      !/^[-+]?[0-9]+([.,][0-9]+)*%?$/.test(value) ? `'${value}` : value;
    const cell = (value) => {
      const written = String(plain(value ?? ""));
      return /[",\r\n]/.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
    };
    const save = (name, rows) => {
      const link = make("a", { href: URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/plain" })), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    };
    const asCsv = () => {
      const item = ["study", "entry", "item", "source_language", "target_language"];
      const answer = ["system", "source", "changed", "reference", "output"], result = ["measure", "value", "verdict", "reason"];
      const rows = [...kept].map(asObject).flatMap((one) => one.answers.flatMap((each) => each.results.map((found) => [
        ...item.map((name) => one[name]), ...answer.map((name) => each[name]), JSON.stringify(each.groups), ...result.map((name) => found[name]),
      ].map(cell).join(","))));
      return [[...item, ...answer, "groups", ...result].join(","), ...rows];
    };
    // A source of several lines, such as premise and hypothesis, is as many columns.
    const asCorpus = () => {
      const rows = [...kept].map((i) => {
        const a = answersOf(i).find((each) => data.changed[each] === NONE) ?? data.answers[i];
        return [...(textOrNull(data.source[a]) ?? "").split("\n"), textOrNull(data.reference[a]) ?? ""];
      });
      const flat = rows.map((row) => row.map((each) => each.replace(/[\t\r\n]+/g, " ")).join("\t"));
      const head = rows.length && rows.every((row) => row.length === 3) ? ["premise\thypothesis\tlabel"] : [];
      return [...head, ...new Set(flat)];
    };
    const listed = () => {
      $("kept").textContent = `${kept.size.toLocaleString("en")} on the list`;
      for (const name of ["csv", "corpus", "empty"]) $(name).disabled = kept.size === 0;
    };
    const toggle = (i, button) => {
      if (!kept.delete(i)) kept.add(i);
      button.textContent = kept.has(i) ? "Remove from list" : "Add to list";
      listed();
    };

    // ---- Controls and keys.
    for (const name of FIELDS) {
      $(name).addEventListener(["text", "from", "to"].includes(name) ? "input" : "change", () => {
        chosen.fields[name] = $(name).value;
        changed();
      });
    }
    $("group").addEventListener("change", fillValues);
    $("value").addEventListener("change", () => {
      const key = $("group").value, value = $("value").value;
      if (value && !chosen.groups.get(key)?.includes(value)) chosen.groups.set(key, [...(chosen.groups.get(key) ?? []), value]);
      changed();
    });
    $("clear").addEventListener("click", () => { location.hash = ""; });
    $("more").addEventListener("click", more);
    new IntersectionObserver((seen) => { if (seen.some((each) => each.isIntersecting)) more(); }, { rootMargin: "600px" }).observe($("more"));
    $("keep-all").addEventListener("click", () => { for (const i of list) kept.add(i); listed(); show(); });
    $("empty").addEventListener("click", () => { kept.clear(); listed(); show(); });
    $("csv").addEventListener("click", () => save("sentences.csv", asCsv()));
    $("corpus").addEventListener("click", () => save("sentences.tsv", asCorpus()));
    const KEYS = {
      "/": () => { $("text").focus(); $("text").select(); },
      j: () => step(1), k: () => step(-1),
      a: (item) => item?.querySelector(".keep").click(),
      c: (item) => item?.querySelector(".tools button:last-child").click(),
    };
    const step = (by) => {
      const next = Math.max(0, current + by);
      if (next >= $("items").children.length && !more()) return;
      $("items").children[next]?.focus();
      $("items").children[next]?.scrollIntoView({ block: "nearest" });
    };
    addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, select, textarea");
      if (event.key === "Escape" && typing) typing.blur();
      if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
      event.preventDefault();
      KEYS[event.key]($("items").children[current]);
    });
    addEventListener("hashchange", readAddress);
    fillValues();
    listed();
    readAddress();
    $("browser").hidden = false;
    $("waiting").remove();
  };

  unpack().then(start).catch((error) => { $("waiting").textContent = `This page cannot be shown: ${error}`; });
})();
