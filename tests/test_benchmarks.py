"""The benchmarks' shared part, and that the one for accelerators, which few machines can run, still runs."""

from __future__ import annotations

import argparse
import doctest
import importlib
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from nbkit.models.answers import Weights

from .models.conftest import save_marian

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
SHARED = ("reporting", "random_models", "widened_models")


@pytest.fixture
def module(monkeypatch):
    """Imports a script by its name, as scripts beside it do."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.mark.parametrize("name", ["reporting", "gpu", "classify", "senses", "campaign"])
def test_examples(module, name):
    found = doctest.testmod(module(name))
    assert found.attempted and not found.failed


def test_a_table_says_what_was_measured_where_and_against_what(module, tmp_path, capsys):
    reporting = module("reporting")
    options = argparse.Namespace(quick=True, shapes=["small", "base"], results=tmp_path / "wanted")
    report = reporting.Report("somewhere/speed.py", "Speed", options)
    report.add("decoding", 9.96, against="a loop", bar="≥ 10", note="a | b")
    report.add("reading", 2.5, "s", bar="≤ 3")
    report.add("texts", 85_000, "")
    report.remark("All agree.")
    assert report.write() == tmp_path / "wanted" / "speed.md"
    path = report.write(tmp_path / "other")
    assert path.name == "speed.md" and [each.name for each in path.parent.iterdir()] == ["speed.md"]
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Speed" and lines[-1] == "All agree."
    assert any(re.match(r"- machine: cpu .*cores?\)", line) for line in lines)
    assert "- settings: quick yes, shapes small base" in lines
    rows = [line for line in lines if line.startswith("|")]
    assert rows[2:] == [
        r"| decoding | a loop | 9.96× | ≥ 10× | **no** | a \| b |",
        "| reading |  | 2.5 s | ≤ 3 s | yes |  |",
        "| texts |  | 85,000 |  |  |  |",
    ]


SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py") if "parser(" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in SHARED])
def test_options_of_a_script_do_not_clash_with_those_of_all(module, name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as stopped:
        module(name).main()
    assert stopped.value.code == 0 and "--results RESULTS" in capsys.readouterr().out


def test_what_cannot_run_here_is_skipped_and_says_why(tmp_path):
    """And `make bench` goes on after it."""
    code = "import reporting; reporting.data_folder()"
    environment = {"PYTHONPATH": str(BENCHMARKS), "PATH": "", "NBKIT_DATA": str(tmp_path / "nowhere")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=BENCHMARKS.parent,
        env=environment,
    )
    assert done.returncode == 77 and done.stderr.startswith("skipped: NBKIT_DATA does not name")
    makefile = (BENCHMARKS.parent / "Makefile").read_text(encoding="utf-8")
    assert "[ $$? = 77 ]" in makefile
    assert all(f"%/{name}.py" in makefile for name in SHARED)


@pytest.mark.thorough
def test_the_accelerators_work_is_done_by_tiny_models_on_a_cpu(module, tmp_path, monkeypatch):
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "own"))
    gpu = module("gpu")
    pytest.importorskip("ctranslate2", reason='the extra "ct2" is not installed')
    arguments = ["--device", "cpu", "--tiny", "--scale", "0.0003", "--sample", "16", "--beams", "2", "--length", "4"]
    text = gpu.main(arguments, tmp_path).read_text(encoding="utf-8")
    for work in gpu.WORK:
        assert re.search(rf"^\| {work}: all of it \| .* s \|.*roofline", text, re.MULTILINE)
        (share,) = re.findall(rf"^\| {work}: of the roofline \|  \| (\S+)%", text, re.MULTILINE)
        assert 0 < float(share) < 100
    assert "| opus-mt: a text | CTranslate2, float32 |" in text
    same, texts = re.findall(r"^\| opus-mt: one batch of static shapes .* (\d+) of (\d+) hyp", text, re.MULTILINE)[0]
    assert same == texts


@pytest.mark.thorough
def test_what_texts_cost_without_a_network_is_measured_of_all_work(module, tmp_path, monkeypatch):
    for name in ("TOKENIZERS_PARALLELISM", "NBKIT_CACHE"):  # the script sets the one; both are put back afterwards
        monkeypatch.setenv(name, str(tmp_path / "own"))
    monkeypatch.setattr(Weights, "network", Weights.network)  # the script sets it
    host = module("host")
    text = host.main(["--texts", "60", "--repeat", "1"], tmp_path).read_text(encoding="utf-8")
    for work in host.WORK:
        assert re.search(rf"^\| {work}: a text, all of it \| transformers' tokenizer alone \| \S+×", text, re.MULTILINE)
        assert re.search(rf"^\| {work}: a text beside tokenizing \|  \| \S+ µs", text, re.MULTILINE)


def test_the_roofline_counts_what_the_layers_multiply(module):
    """Against torch's own count of the operations of one pass."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import RobertaConfig, RobertaModel

    gpu = module("gpu")
    config = RobertaConfig(
        vocab_size=50, hidden_size=16, intermediate_size=40, num_hidden_layers=3, num_attention_heads=2,
        attn_implementation="eager",
    )  # fmt: skip
    network = RobertaModel(config, add_pooling_layer=False).eval()
    counter = FlopCounterMode(display=False)
    with counter, torch.inference_mode():
        network(input_ids=torch.ones(5, 7, dtype=torch.long))
    assert counter.get_total_flops() == 2 * gpu.weights(network) * 5 * 7 + gpu.attention(3, 16, [7] * 5)


@pytest.mark.thorough
def test_what_the_page_on_clusters_says_of_scaling_is_what_is_simulated(module):
    scaling = module("scaling")
    params = scaling.WordOrderParams(
        corpus="sandbox", languages=list(scaling.TARGETS), models=list(scaling.RATES), n_pairs=10_000
    )
    page = (BENCHMARKS.parent / "docs" / "cluster.md").read_text(encoding="utf-8")

    def hours(costs):
        found = list(scaling.rows(params, costs))
        return [round(row.everything / 3600, 1) for row in (found[0], found[-1])], found[-1].faster

    found = list(scaling.rows(params, scaling.Costs(scaling.RATES)))
    assert "\n".join(scaling.table(found)) in page
    assert f"(5 s per model and start: {hours(scaling.Costs(scaling.RATES, load=5, start=5))[1]:.1f}×" in page
    (alone, many), faster = hours(scaling.Costs({model: rate / 40 for model, rate in scaling.RATES.items()}))
    assert f"takes {alone:.0f} hours on one worker and {many} hours on 64, {faster:.0f}×" in page.replace("\n", " ")


@pytest.mark.thorough
def test_streams_of_two_lengths_are_compared(module, tmp_path, monkeypatch, capsys):
    memory, reporting = module("memory"), module("reporting")
    if not Path("/proc/self/status").is_file():
        pytest.skip("peaks of memory are read from /proc, which is not there")
    write = reporting.Report.write
    monkeypatch.setattr(reporting.Report, "write", lambda report: write(report, tmp_path))
    monkeypatch.setattr(sys, "argv", ["memory.py", "--tenth", "--share", "0.001", "--kinds", "perturbed"])
    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path))
    memory.main()
    text = (tmp_path / "memory.md").read_text(encoding="utf-8")
    assert re.search(r"\| perturbed: peak memory \| a tenth of it \| .*× .* for [\d,]+ \w+, .* for [\d,]+ ", text)


def test_a_widened_model_gives_what_the_small_one_gives(module, tmp_path, monkeypatch):
    """By torch and, where it is installed, by CTranslate2, which adds up in another order."""
    import torch
    from safetensors.torch import load_file, save_file

    from nbkit.models import Decoding
    from tests.models.by_name import load_translator

    monkeypatch.setenv("NBKIT_CACHE", str(tmp_path / "cache"))
    torch.manual_seed(3)
    small = save_marian(tmp_path / "small")
    tensors = load_file(small / "model.safetensors")
    for name, tensor in tensors.items():  # normalizations as training leaves them: not those that change nothing
        if "layer_norm" in name:
            tensors[name] = tensor + torch.linspace(-0.3, 0.4, tensor.numel())
    save_file(tensors, small / "model.safetensors", metadata={"format": "pt"})
    size = json.loads((small / "config.json").read_text())
    layers, vocabulary = size["encoder_layers"] + 2, size["vocab_size"] + 50
    folder = module("widened_models").widened_marian(
        small, tmp_path / "wide", times=3, layers=layers, vocabulary=vocabulary
    )
    wide = json.loads((tmp_path / "wide" / "config.json").read_text())
    assert (wide["d_model"], wide["encoder_layers"], wide["vocab_size"]) == (3 * size["d_model"], layers, vocabulary)
    texts = ["A man rides a bicycle.", "The dog sleeps under the old table.", "Two cats."]
    decoding = Decoding(beams=3, max_new_tokens=12)
    expected = load_translator(str(small), "en", "de", device="cpu")
    for suffix in ("", "@ct2") if find_spec("ctranslate2") else ("",):
        found = load_translator(f"{folder}{suffix}", "en", "de", device="cpu")
        assert found.translate(texts, "en", "de", decoding) == expected.translate(texts, "en", "de", decoding)


@pytest.mark.thorough
def test_coverage_is_simulated_of_every_closed_formula(module, tmp_path, monkeypatch):
    """And what no interval can reach, for the few outcomes that there are, has no bar but says what is possible."""
    coverage = module("coverage")
    monkeypatch.setattr(coverage, "SIZES", (10,))
    text = coverage.main(["--runs", "20", "--results", str(tmp_path)]).read_text(encoding="utf-8")
    for row in (
        r"share of 20%, n = 10 \|.*percentile",
        "share of 50%, n = 10, clusters of two of each",
        r"mean, normal, n = 10, clusters, ICC 0\.5 \|.*percentile .* Student",
        "paired verdicts, 4% gained, 4% lost, n = 10 .* exact",
        "paired verdicts, 4% gained, 4% lost, n = 10, clusters",
        "mean of three cells' shares, n = 10",
        r"Spearman, ρ = 0\.5, n = 10, clusters, ties",
        "rank-biserial of 10% yes, effect 1, n = 10",
        "corpus BLEU, jackknife, n = 10",
        r"share of 1%, n = 10 \|.*\|  \|  \|.*possible: 90\.4 % or 99\.6 %",
        "^Below 93.0 %, where more can be had",
    ):
        assert re.search(rf"^\| {row}" if row[0] != "^" else row, text, re.MULTILINE), row


#: A run as the campaign sees one: its log, a worker, its tables; `spoiled` ones leave what they should not.
PRETENDED = """
import subprocess, sys, time
from pathlib import Path

spoiled = Path("tables-seen").exists() and "{spoiled}" == "True"
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)  # spawn_main",])
try:
    for line in ("[stage 1 0/2] started", "[notebooks 0/2] started"):
        print(line, file=sys.stderr, flush=True)
        for _ in range(20):
            time.sleep(0.02)
    table = Path("out/tables/a/b.csv")
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text("1,2" + ",3" * spoiled)
    Path("out/.b.csv.1-2").write_text("") if spoiled else None
finally:
    if not spoiled:
        worker.kill()
"""


@pytest.mark.thorough
@pytest.mark.parametrize("spoiled", [False, True])
def test_the_campaign_notices_what_a_killed_run_leaves(module, tmp_path, monkeypatch, spoiled):
    campaign = module("campaign")
    if not hasattr(os, "killpg"):
        pytest.skip("runs are killed as Unix does it")
    monkeypatch.setattr(campaign, "PATIENCE", 1)
    prepared = tmp_path / "prepared"
    prepared.mkdir()
    (prepared / "run.py").write_text(PRETENDED.format(spoiled=spoiled))

    def pretended(runs, *_):
        with runs.log.open("wb") as log:
            environment = {**os.environ, "NBKIT_CAMPAIGN": runs.mark}
            return subprocess.Popen(
                [sys.executable, "run.py"], cwd=runs.folder, env=environment, stderr=log, start_new_session=True
            )

    monkeypatch.setattr(campaign.Runs, "command", pretended)
    tally = campaign.Tally()
    kills = [campaign.Kill(n, stage, "group", 0.5) for n, stage in enumerate(("units", "notebooks", "notebooks"))]
    begun = campaign.undisturbed

    def undisturbed(runs):
        found = begun(runs)
        (prepared / "tables-seen").touch()
        return found

    monkeypatch.setattr(campaign, "undisturbed", undisturbed)
    campaign.survive(kills, tmp_path, prepared, tally)
    assert tally.kills.total() == 3 and tally.failed == 0
    found = (tally.differ, len(tally.partial), bool(tally.orphans))
    assert found == ((1, 1, True) if spoiled else (0, 0, False)), vars(tally)
