"""The store: a plain dictionary that survives crashes, damage and company."""

from __future__ import annotations

import copy
import errno
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbkit.errors import NbkitError
from nbkit.store import DamagedShardWarning, Store, cache_folder
from nbkit.store import shards as partition_module
from tests.conftest import CONFIG, Counter, texts

# What is remembered


def test_each_distinct_input_is_computed_once_and_order_is_kept(tmp_path):
    compute = Counter()
    inputs = [("b",), ("a", "ref"), ("b",), ("a",)]
    first = Store(tmp_path).records(CONFIG, inputs, compute)
    assert [row["text"] for row in first] == ["b", "a|ref", "b", "a"]
    assert compute.seen == [("b",), ("a", "ref"), ("a",)]
    again = Store(tmp_path).records(CONFIG, [*inputs, ("c",)], compute)
    assert again[:4] == first and compute.seen[3:] == [("c",)]


def test_configurations_do_not_see_each_other(tmp_path):
    store, other = Store(tmp_path), CONFIG | {"version": 2}
    store.records(CONFIG, [("a",)], Counter())
    assert store.missing(other, [("a",), ("a",)]) == [("a",)]
    store.records(other, [("a",)], Counter("!"))
    assert store.records(CONFIG, [("a",)], Counter("?"))[0]["text"] == "a"
    configs = [json.loads(path.read_text()) for path in tmp_path.rglob("config.json")]
    assert sorted(config["version"] for config in configs) == [1, 2]


def test_the_order_of_a_configurations_keys_means_nothing(tmp_path):
    Store(tmp_path).records({"kind": "k", "a": 1, "b": [1, 2]}, [("x",)], Counter())
    assert Store(tmp_path).missing({"b": (1, 2), "a": 1, "kind": "k"}, [("x",)]) == []


def test_asking_writes_nothing(tmp_path):
    store = Store(tmp_path / "new")
    assert store.missing(CONFIG, [("a",)]) == [("a",)]
    assert store.records(CONFIG, [], Counter()) == []
    assert not (tmp_path / "new").exists()


def test_what_is_changed_in_a_result_is_not_changed_in_the_store(tmp_path):
    store = Store(tmp_path)
    store.records(CONFIG, [("a",), ("a",)], Counter())[0]["text"] = "mine"
    assert [row["text"] for row in store.records(CONFIG, [("a",), ("a",)], Counter())] == ["a", "a"]


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters(exclude_categories=())),
    st.lists(st.floats(allow_nan=False)), st.lists(st.text()), st.lists(st.one_of(st.none(), st.integers(), st.text())),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "b", "c"]), values), max_size=8))
def test_every_value_comes_back_as_it_was(rows):
    with tempfile.TemporaryDirectory() as folder:
        inputs = [(str(number),) for number in range(len(rows))]
        computed = Store(folder).records(CONFIG, inputs, lambda _: rows, shard=len(rows) or 1)
        stored = Store(folder).records(CONFIG, inputs, Counter())
    for row, first, second in zip(rows, computed, stored, strict=True):
        assert repr(sorted(row.items())) == repr(sorted(first.items())) == repr(sorted(second.items()))


def test_numpy_values_become_pythons(tmp_path):
    row = {
        "score": np.float32(0.5),
        "n": np.int64(3),
        "scores": np.array([1.5, 2.0]),
        "pair": (1, 2),
        "yes": np.bool_(1),
    }
    expected = {"score": 0.5, "n": 3, "scores": [1.5, 2.0], "pair": [1, 2], "yes": True}
    assert Store(tmp_path).records(CONFIG, [("a",)], lambda _: [row]) == [expected]
    assert Store(tmp_path).records(CONFIG, [("a",)], Counter()) == [expected]


@settings(max_examples=25, deadline=None)
@given(
    calls=st.lists(
        st.tuples(st.lists(st.integers(0, 30), max_size=20), st.integers(1, 7), st.booleans()), min_size=1, max_size=8
    ),
    merge_from=st.integers(2, 4),
)
def test_the_store_is_a_dictionary_whatever_the_order_duplicates_shards_and_merges(calls, merge_from):
    compute, cache = Counter(), {}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition_module, "MERGE_FROM", merge_from)
        patch.setattr(partition_module, "MERGED_ROWS", 12)
        patch.setattr(partition_module, "HELD_BYTES", 1)
        store = Store(folder)
        for numbers, shard, fresh in calls:
            store = Store(folder) if fresh else store
            inputs = [(f"text {number}",) for number in numbers]
            unknown = list(dict.fromkeys(texts for texts in inputs if texts not in cache))
            assert store.missing(CONFIG, inputs) == unknown
            cache |= {texts: {"text": texts[0], "length": len(texts[0])} for texts in unknown}
            assert store.records(CONFIG, inputs, compute, shard=shard) == [cache[texts] for texts in inputs]
    assert len(compute.seen) == len(set(compute.seen)) == len(cache)


def test_a_store_anywhere_fsspec_goes():
    store = Store("memory://nbkit-test/store")
    first = store.records(CONFIG, texts(5), Counter())
    assert Store("memory://nbkit-test/store").records(CONFIG, texts(5), Counter("!")) == first
    assert str(store.root).startswith("memory://")


def test_a_store_travels_to_other_processes_and_threads(tmp_path):
    store = copy.copy(Store(tmp_path))  # by the way of pickle
    results = []
    threads = [threading.Thread(target=lambda: results.append(store.records(CONFIG, texts(50), Counter(), shard=5)))
               for _ in range(8)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(result == results[0] for result in results)


def test_the_default_place(monkeypatch, tmp_path):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path))
    assert Store().url == f"{tmp_path}/store"
    monkeypatch.setenv("NBKIT_CACHE", "")
    assert cache_folder() == str(Path("~/.cache/nbkit").expanduser())


# Tables


def test_a_table_is_computed_once_and_equal_both_times(tmp_path):
    made = []

    def compute():
        made.append(1)
        language = pd.Categorical(["de", "ja"], categories=["ja", "de"], ordered=True)
        return pd.DataFrame({"language": language, "score": [0.5, None], "n": [1, 2]}).set_index("n")

    first = Store(tmp_path).table(CONFIG, compute)
    second = Store(tmp_path).table(CONFIG, compute)
    assert len(made) == 1
    pd.testing.assert_frame_equal(first, second)
    pd.testing.assert_frame_equal(first, compute())


def test_a_table_that_another_process_kept_first_is_everybodys(tmp_path):
    """Sampled results differ each time: whoever comes second takes what is there."""

    def drawn(value):
        return pd.DataFrame({"drawn": [value]})

    def overtaken():
        assert Store(tmp_path).table(CONFIG, lambda: drawn(1))["drawn"].item() == 1
        return drawn(2)

    assert Store(tmp_path).table(CONFIG, overtaken)["drawn"].item() == 1
    assert Store(tmp_path).table(CONFIG, overtaken)["drawn"].item() == 1


def test_a_damaged_table_is_set_aside_and_computed_again(tmp_path):
    table = pd.DataFrame({"a": [1, 2]})
    Store(tmp_path).table(CONFIG, lambda: table)
    (path,) = tmp_path.rglob("*.table.parquet")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(DamagedShardWarning):
        pd.testing.assert_frame_equal(Store(tmp_path).table(CONFIG, lambda: table), table)
    assert len(list(tmp_path.rglob("*.damaged"))) == 1


def test_the_rows_of_a_table_are_known_without_reading_it(tmp_path):
    store = Store(tmp_path)
    assert store.table_rows(CONFIG) is None
    store.table(CONFIG, lambda: pd.DataFrame({"a": [1, 2], "b": [[0.5], []]}))
    assert store.table_rows(CONFIG) == 2 and store.table_rows({**CONFIG, "version": 7}) is None
    (path,) = tmp_path.rglob("*.table.parquet")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.warns(DamagedShardWarning):
        assert store.table_rows(CONFIG) is None


def test_records_and_a_table_of_one_configuration_do_not_meet(tmp_path):
    Store(tmp_path).table(CONFIG, lambda: pd.DataFrame({"a": [1]}))
    assert Store(tmp_path).missing(CONFIG, [("a",)]) == [("a",)]


def test_a_table_that_parquet_cannot_hold_is_an_error(tmp_path):
    with pytest.raises(NbkitError, match="cannot be stored as Parquet"):
        Store(tmp_path).table(CONFIG, lambda: pd.DataFrame({"a": [1, "x", object()]}))


# Bad input


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"version": 1}, "needs a 'kind'"),
        ({"kind": "../up"}, "needs a 'kind'"),
        ({"kind": "k", "where": Path("x")}, "must be JSON-serialisable"),
        ({"kind": "k", "x": float("nan")}, "must be JSON-serialisable"),
    ],
)
def test_a_bad_configuration_is_named(tmp_path, config, message):
    with pytest.raises(NbkitError, match=message):
        Store(tmp_path).missing(config, [("a",)])


def test_bad_results_are_named(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(NbkitError, match="2 results were computed for 3 inputs"):
        store.records(CONFIG, texts(3), lambda inputs: [{"a": 1}] * 2)
    with pytest.raises(NbkitError, match="a result contains a object"):
        store.records(CONFIG, texts(1), lambda inputs: [{"a": object()}])
    assert store.missing(CONFIG, texts(3)) == texts(3)


def test_an_unknown_protocol_is_named():
    with pytest.raises(NbkitError, match="cannot open nowhere://x"):
        Store("nowhere://x")


def test_a_full_disk_names_the_place_and_keeps_what_was_written(tmp_path, monkeypatch):
    store, write = Store(tmp_path), os.fsync
    calls = []

    def full(handle):
        calls.append(handle)
        if len(calls) == 4:  # the configuration and two shards were written
            raise OSError(errno.ENOSPC, "No space left on device")
        write(handle)

    monkeypatch.setattr("nbkit.store.shards.os.fsync", full)
    with pytest.raises(NbkitError, match=rf"cannot write {tmp_path}.*No space left.*NBKIT_CACHE"):
        store.records(CONFIG, texts(30), Counter(), shard=10)
    assert len(Store(tmp_path).missing(CONFIG, texts(30))) == 10
    assert not list(tmp_path.rglob(".tmp-*"))


def test_a_file_in_the_place_of_the_store_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(NbkitError, match="file/test"):
        Store(tmp_path / "file").records(CONFIG, texts(1), Counter())


def test_importing_the_store_is_cheap():
    code = "import nbkit.store, sys; print([m for m in ('pandas', 'pyarrow', 'torch', 'fsspec') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_reading_what_is_stored_imports_no_pandas(tmp_path):
    """A third of the time of reading 85,000 results was its import."""
    Store(tmp_path).records(CONFIG, texts(5), Counter())
    code = f"""
import sys
from nbkit.store import Store
assert len(Store({str(tmp_path)!r}).records({CONFIG!r}, {texts(5)[::-2]!r}, None)) == 3
print([module for module in ("pandas", "torch") if module in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_kept_records_are_all_there_once_in_whatever_shards(tmp_path):
    store = Store(tmp_path)
    assert store.all_records(CONFIG) == []
    for start in range(0, 60, 3):  # overlapping, and enough shards to be merged on the way
        store.records(CONFIG, texts(6, start), Counter())
    kept = store.all_records(CONFIG)
    assert sorted(record["text"] for record in kept) == sorted(text for (text,) in texts(63))
    assert Store(tmp_path).all_records(CONFIG) == kept
