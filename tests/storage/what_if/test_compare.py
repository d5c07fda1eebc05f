"""Variants of a server, ranked by significant differences, and the report.

Tests also storage/commands/.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from birthmark.storage.what_if.calls import survey
from birthmark.storage.what_if.compare import NOW, Comparison, compare
from birthmark.storage.what_if.drift import Drift
from birthmark.storage.what_if.fit import Fit, Unknown, fit
from birthmark.storage.what_if.report import (
    as_it_is,
    conclusion,
    html,
    promise,
    steadiness,
    verdict,
)
from birthmark.storage.what_if.settings import WhatIfOptions
from birthmark.storage.what_if.truth import capture
from birthmark.storage.what_if.variants import Change
from tests.builders.served import dataset, operations
from tests.storage.what_if.test_fit import KNOWN, TRUE

OPTIONS = WhatIfOptions(resamples=5, seeds=2)
CHANGES = {
    "memory": Change(memory=1 << 30),
    "buffer": Change(write_buffer=64 << 20),
    "locks": Change(locks=True),
    "cheetah": Change(drive="cheetah9LP"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    small = TRUE.model_copy(update={"memory": 8 << 20})
    (batch,) = capture(small, 30_000, 6)
    return dataset(tmp_path_factory.mktemp("served") / "d", operations(batch))


@pytest.fixture(scope="module")
def found(folder: Path) -> Fit:
    return fit(survey(folder), KNOWN, OPTIONS)


@pytest.fixture(scope="module")
def compared(found: Fit) -> Comparison:
    return compare(found, CHANGES, OPTIONS)


def test_ranks_helpful_variants_and_not_those_with_little_effect(compared: Comparison) -> None:
    now = compared.now()
    verdicts = {each.name: compared.verdict(each, now) for each in compared.variants}
    assert verdicts["memory"] == "faster"
    assert verdicts["cheetah"] == "slower"
    assert verdicts["locks"] == verdicts[NOW] == "cannot be told"
    assert ("memory", NOW) in compared.pairs()
    assert (NOW, "locks") not in compared.pairs()
    values = [each.value for each in compared.variants]
    assert values == sorted(values)


def test_it_is_said_why(compared: Comparison) -> None:
    result = {sentence.split(":")[0]: sentence for sentence in conclusion(compared)}
    assert "less of reading and writing on disks" in result["memory"]
    assert "no measurable difference" in result["locks"]
    assert "whose prediction is off by" in promise(compared)
    by_name = {each.name: each for each in compared.variants}
    assert by_name["cheetah"].parts["read"]["seek"] > 0
    hits = by_name["memory"].hit_ratio, by_name[NOW].hit_ratio
    assert hits[0] is not None
    assert hits[1] is not None
    assert hits[0] > hits[1]


def test_does_not_rank_settings_that_the_server_may_have_already(found: Fit) -> None:
    unsure = replace(found, unknowns={"threads": Unknown(8, 2, 16, "threads")})
    changes = {
        "fewer": Change(threads=2),
        "many": Change(threads=64),
        "both": Change(threads=4, memory=1 << 30),
    }
    compared = compare(unsure, changes, OPTIONS)
    by_name = {each.name: each for each in compared.variants}
    assert [name for name, each in by_name.items() if each.may_be_now] == ["fewer"]
    assert "the server may have 16 threads already: see the fit" in by_name["many"].notes
    slow = replace(by_name["fewer"], values=[9 * value for value in by_name["fewer"].values])
    assert compared.verdict(slow, compared.now()) == "cannot be told"
    assert compared.verdict(slow, by_name["many"]) == "slower"


def test_a_variant_without_effect_makes_no_difference(found: Fit) -> None:
    result = conclusion(
        compare(found, {"channels": Change(channels=found.server.channels)}, OPTIONS)
    )
    assert result[0].startswith("channels: no difference (+0.0%)")
    assert f"{found.server.threads} threads, 1 processor, 8" in as_it_is(found)


def test_it_is_said_whether_the_server_was_the_same_in_both_halves(found: Fit) -> None:
    assert "was the same in both halves" in steadiness(found)
    slower = Drift(0.3, {"getattr": 0.1, "commit": 0.5, "write": 0.2, "lookup": -0.05})
    result = steadiness(replace(found, drift=slower))
    assert result.startswith("The server itself was slower in the second half")
    assert (
        "took 30% longer than such calls before (commit +50%, write +20%, getattr +10%)" in result
    )
    assert "quicker in the second half" in steadiness(replace(found, drift=Drift(-0.3, {})))
    assert "Too few calls came alone" in steadiness(replace(found, drift=Drift()))


def test_a_worse_prediction_ranks_less(compared: Comparison) -> None:
    unsure = Comparison(compared.fit, compared.options, compared.variants, error=float("inf"))
    assert unsure.pairs() == []
    assert "nothing is ranked" in promise(unsure)


def test_refuses_impossible_comparisons(found: Fit) -> None:
    with pytest.raises(ValueError, match="expected a variant"):
        compare(found, {}, OPTIONS)
    with pytest.raises(ValueError, match=r"variants\.now: expected another name"):
        compare(found, {NOW: Change(threads=1)}, OPTIONS)
    rename = OPTIONS.model_copy(update={"operation": "rename"})
    with pytest.raises(ValueError, match=r"operation: expected one of all, .*found 'rename'"):
        compare(found, CHANGES, rename)


def test_the_verdict_says_what_helps_most_or_that_nothing_does(compared: Comparison) -> None:
    answer = verdict(compared)
    best = compared.variants[0].name
    assert answer.right == promise(compared)
    assert answer.compared.startswith(f"{best} is faster than the server as it is by ")
    assert answer.compared.endswith(", the most of 4 variants.")
    assert answer.to_do == f"Try {best} first."
    slow = [each for each in compared.variants if each.name in (NOW, "locks")]
    none = verdict(replace(compared, variants=slow))
    assert none.compared == "No variant is measurably faster than the server as it is."


def test_the_page_shows_text_and_no_markup_of_others(found: Fit) -> None:
    page = html(compare(found, {"<b>": Change(threads=16)}, OPTIONS))
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "birthmark", "storage", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_a_capture_becomes_a_report(folder: Path, tmp_path: Path) -> None:
    quick = ("--resamples", "5", "--seeds", "2")
    config = tmp_path / "known.toml"
    config.write_text("[server]\nthreads = 8\nprocessors = 1\n")
    out = tmp_path / "out"
    run = command("what-if", folder, "--try", "memory=1G", "--config", config, "--out", out, *quick)
    assert (run.returncode, run.stderr) == (0, "")
    order = ["Accuracy", "Variants, best first", "memory=1G: faster by", "Predicted for the half"]
    places = [run.stdout.index(words) for words in order]
    assert places == sorted(places)
    result = json.loads((out / "what-if.json").read_text())
    assert result["ranked_pairs"] == [["memory=1G", "now"]]
    assert result["variants"][0]["saturated"] > 0
    rows = pq.read_table(out / "what-if.parquet").to_pylist()
    assert {row["variant"] for row in rows} == {"now", "memory=1G"}
    assert "memory=1G: faster by" in (out / "what-if.html").read_text()
    assert f"Written: {out / 'what-if.html'}, " in run.stdout


def test_a_folder_that_cannot_be_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = command("what-if", "nowhere", "--try", "memory=1G", "--out", tmp_path / "file" / "sub")
    assert (run.returncode, run.stdout) == (2, "")
    assert f"expected a folder; found {tmp_path / 'file'}" in " ".join(run.stderr.split())


def test_a_variant_that_names_nothing_is_refused_in_a_line(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "variants.toml"
    config.write_text("[variants.empty]\n")
    run = command("what-if", folder, "--config", config)
    assert (run.returncode, run.stdout) == (1, "")
    (line,) = run.stderr.splitlines()
    assert f"{config}: variants.empty: expected at least one of threads" in line
    assert command("what-if", folder).returncode == 2
