"""What options and files are given: words that mean something, and words that nobody expects."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st

#: By the name of an option or argument: what gets a command past its first checks. Others draw from all of these.
GOOD: Mapping[str, tuple[str, ...]] = {
    "lang": ("en", "de", "ja"),
    "source": ("en", "de", "text.en"),
    "target": ("de", "fr", "en"),
    "src": ("en", "de", "zh"),
    "tgt": ("de", "ja", "en"),
    "targets": ("de", "de,fr", "fr"),
    "text": ("The cat sees 1,000 old dogs .", "Tom"),
    "only": ("reversed", "word_shuffle", "tree_mirror_pre"),
    "parser": ("en_core_web_sm", "model"),
    "model": ("model", "model@ct2", "opus-mt", "sandbox-marian", "drawn-model", "drawn-model@ct2", "placeholder:model"),
    "file": ("text.en", "-", "drawn.txt"),
    "hypothesis": ("text.de", "-", "drawn.txt"),
    "run": ("grid.yaml", "drawn.yaml", "grid.yaml", "drawn.yaml", "params/demo.yaml"),
    "run_file": ("drawn.yaml", "grid.yaml", "drawn.yaml", "drawn.yaml", "params/numbers.yaml"),
    "folder": ("drawn-run", "run", "new"),
    "form": ("new.csv", "form.csv"),
    "forms": ("form.csv", "drawn.csv", "tom=form.csv", "tom=drawn.csv"),
    "key": ("form.key.json", "drawn.json"),
    "output": ("new", "new", "new.txt", "run", "full", "null"),
    "entry": ("word_order", "numbers", "idioms"),
    "train": ("text.tsv", "drawn.tsv", "sandbox:train", "moses:text", "drawn.conllu"),
    "dev": ("text.tsv", "drawn.tsv", "sandbox:dev"),
    "start": ("model", "drawn-model", "sandbox-marian"),
    "recipe_name": ("paper-lstm", "idioms-mbart"),
    "device": ("cpu", "auto", "cuda:1"),
    "dtype": ("float32", "auto", "bfloat16"),
    "architecture": ("marian", "lstm", "m2m100", "bilstm", "roberta", "gpt2"),
    "address": ("tcp://127.0.0.1:1",),
    "steps": ("2",),
    "pairs": ("3", "20"),
}

NUMBERS = ("0", "1", "-1", "3", "1.5", "-0", "nan", "inf", "-inf", "1e308", "-1e308", "99999999999999999999999999",
           "-99999999999999999999999999", "1_0", "٣", "0x10")  # fmt: skip

NASTY = (
    "", " ", "-", "a\0b", "\ud800", "\udcff", "grid.yaml\0", "x" * 400, "y" * 5000, "é" * 130, "模型",
    "\u202egpj.yaml", "a\nb", "\"'<img src=x onerror=1>", "=cmd|' /C calc'!A1", "${HOME}", "${NOT_SET}", "{src}",
    "{", "{0}", "%s", "\\", "..", ".", "a/b/c", "/proc/none", "folder", "folder/x", "empty", "loop", "loop/x",
    "dangling", "unreadable", "binary", "full", "null", "drawn.txt", "drawn.tsv", "drawn.conllu", "drawn.json",
    "drawn.yaml", "drawn.csv", "drawn.zip", "drawn.ipynb", "moses:", "moses:drawn.tsv", "moses:text", "pharaoh:",
    "pharaoh:drawn.txt", "pharaoh:folder", "embeddings:model", "embeddings:", "multi30k:none", "sandbox:",
    "sandbox:none", "muse:folder", "xx", "deu", "@ct2", "model@ct9", "@", "drawn-model@ct2", "drawn-model",
    "openai:", "openai:x", "openai:x@", "openai:x@http://127.0.0.1:1/v1", "openai:x@http://[::1",
    "openai:x@http://h:99999/v1", "openai:x@ftp://h",
    "placeholder:", "placeholder:placeholder:model", "model#2", "model#x",
    "model#99999999999999999999999", "hub/name", "hub/../name", "meta", "cuda:99", "mps", "cpu:", "int8", "float64",
    "complex64", "tcp://", "tcp://h:99999", "http://127.0.0.1:1", ",", ",,de", "en,en",
)  # fmt: skip

WORDS = tuple(dict.fromkeys(word for words in GOOD.values() for word in words))

#: What stands in a file where something else is expected.
ODD_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 1.5, 10**26, -(10**26), 1e308, float("nan"), float("inf"), "", [], [None], [[]],
    [[[]], {}], {}, {"": ""}, {"a": None}, {"a": ["b"]}, ["a", "a"], [1, 2], {"en": "de"}, ["de"], ["model"],
)  # fmt: skip

#: Whole contents that no reader expects; the suffix says which reader gets them.
CONTENTS = (
    b"", b"\n", b"\n" * 50, b"\0", b"\0" * 3000, b"\xef\xbb\xbf",
    b"\xef\xbb\xbfA cat .\tEine Katze .\r\nTom\tTom\r\n", b"a\r\nb\rc", b"a\tb\n", b"a\tb\tc\td\n", b"a\n", b"\t\n",
    b"\t\t\t\n", b"\xff\xfea\0", b"caf\xe9\tx\n", b"\x80\x81" * 40, b"x" * 300_000, b"x\t" * 50_000,
    "\u2028\u2029\x85\x0b\x0c\tx\n".encode(), "\u202e\u2066\ttext\n".encode(), b"1,2,,3 and 1e999 \tx\n",
    "\u0664\u0665 ½ Ⅻ 一百万 १२\tx\n".encode(), b"\xed\xa0\x80\tx\n", b"1\tA\ta\tDET\t_\t_\t0\troot\t_\t_\n",
    b"1\tA\n\n", b"# text = A\n1\tA\ta\tX\t_\t_\t1\troot\t_\t_\n\n",
    b"1\tA\ta\tX\t_\t_\t99999999999999999999\tdep\t_\t_\n\n", b"1-2\tA\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
    b"1.1\tA\t_\t_\t_\t_\tx\t_\t_\t_\n\n", b"{", b"[", b"{}", b"[]", b"null", b"7", b'"x"', b'{"a": NaN}',
    b'{"a": 1, "a": 2}', b"[" * 3000, b'{"a":' * 3000, b'{"x": "\\ud800"}\n', b"a: [", b"a: b: c", b"\t- a",
    b"a: &x [*x]", b"&a [*a]", b"- !!python/object/apply:os.getcwd []", b"? [a]\n: b", b"a: !!binary x",
    b"!!timestamp 99999-99-99", b"a: 2001-99-99", b"a: 1e400", b"a: 190:20:30", b"a: 0o9", b"%YAML 9.9\n---\na: 1",
    b"---\na: 1\n---\nb: 2\n", b"{a, b}", b"<<: 1", b"<<: [1]", b"a: *none", b"!x y", b"name: x\nname: y",
    b"name: x\nruns: 7", b"name: x\nruns:\n  study: y", b"name: [x]\nruns: []", b"1: 2", b"~: 1\nruns: []",
    b"a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\nd: [*c,*c]", b"PK\x03\x04", b"PK\x05\x06" + bytes(18),
    b"PAR1\0\0PAR1", b"\x1f\x8b\x08\0", b"0-0 1-1\n", b"0-99999999999999999999\n", b"-1--1\n", b"0-0 x\n", b"a b c\n",
    b"a 0.1 nan inf\n", b"2 3\na 1 2 3\n", b"99999999999999999 1\n",
)  # fmt: skip

numbers = st.sampled_from(NUMBERS)
nasty = st.sampled_from(NASTY) | st.text(max_size=5)
odd_values = st.sampled_from(ODD_VALUES) | st.sampled_from(NASTY) | st.sampled_from(WORDS)


@st.composite
def mutated(draw: st.DrawFn, value: Any, most: int = 2) -> Any:
    """A copy of JSON-like *value* in which up to *most* parts are changed, removed or added."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, most))):
        holder = {"": value}
        place = draw(st.sampled_from(list(_places(holder))))
        within, key = place
        how = draw(st.sampled_from(("replace", "replace", "remove", "add")))
        if how == "remove" and within is not holder:
            del within[key]
        elif how == "add" and isinstance(within[key], dict):
            within[key][draw(st.sampled_from(("", "x", "seed", "label", "a/b", "\0")))] = draw(odd_values)
        elif how == "add" and isinstance(within[key], list):
            within[key].append(draw(odd_values))
        else:
            within[key] = draw(odd_values)
        value = holder[""]
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each part of *value* as what holds it and its key there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
