"""Fits of simulated servers, whose unknowns are known.

Tests also storage/what_if/.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from birthmark.storage.what_if.calls import survey
from birthmark.storage.what_if.columns import CLASSES
from birthmark.storage.what_if.estimate import estimate
from birthmark.storage.what_if.fit import fit, fitted
from birthmark.storage.what_if.sample import sampled
from birthmark.storage.what_if.server import Distribution, Server
from birthmark.storage.what_if.service import distribution
from birthmark.storage.what_if.settings import FitOptions
from birthmark.storage.what_if.truth import capture, drawn_server, lognormal
from tests.builders.served import dataset, operations

QUICK = FitOptions(resamples=8, seeds=2)
TRUE = Server(
    threads=8,
    processors=1,
    memory=40 << 20,
    warm=0.5,
    disk_read=lognormal(2000, 0.3),
    disk_write=lognormal(700, 0.3),
    work={
        name: lognormal(50, 0.35, 1.0 if name == "read" else 0.0)
        for name in ("getattr", "lookup", "access", "read", "write", "commit", "create", "list")
    },
)
KNOWN = {"threads": 8, "processors": 1}


@pytest.fixture(scope="module")
def calls() -> list[pa.RecordBatch]:
    return capture(TRUE, 40_000, 3)


def test_a_fit_finds_the_server_again_that_gave_the_replies(calls: list[pa.RecordBatch]) -> None:
    server, unknowns = fitted(sampled(calls), calls, KNOWN, QUICK)
    truth = {
        "getattr on the processor": 50,
        "lookup on the processor": 50,
        "memory in use": TRUE.memory,
        "found in memory at first": TRUE.warm,
        "disk read": 2000,
        "disk write": 700,
    }
    for name, value in truth.items():
        own = unknowns[name]
        assert own.low is not None
        assert own.high is not None
        assert own.low <= value <= own.high, (name, own)
        assert own.high < 1.5 * own.low, (name, own)
    assert server.memory == pytest.approx(TRUE.memory, rel=0.2)
    assert server.work["read"].ns_per_byte == pytest.approx(1.0, abs=0.4)
    assert "threads" not in unknowns  # it was known


def test_distinguishes_a_server_with_one_thread_from_one_with_eight() -> None:
    options = FitOptions(resamples=5)
    for processors in (1, 8):
        slow = TRUE.model_copy(
            update={
                "processors": processors,
                "work": {name: own.scaled(8) for name, own in TRUE.work.items()},
            }
        )
        made = capture(slow, 10_000, 4)
        _, unknowns = fitted(sampled(made), made, {"threads": 8}, options)
        found = unknowns["processors"]
        assert found.low is not None
        assert found.high is not None
        assert found.low <= processors <= found.high
        assert (found.high < 8) if processors == 1 else (found.low > 1)


def test_detects_whether_calls_of_a_connection_wait_for_one_another() -> None:
    options = FitOptions(resamples=5)
    for in_turn in (False, True):
        slow = {name: own.scaled(4) for name, own in TRUE.work.items()}
        server = TRUE.model_copy(update={"processors": 4, "in_turn": in_turn, "work": slow})
        made = capture(server, 20_000, 4)
        known = {"threads": 8, "processors": 4}
        fitted_server, unknowns = fitted(sampled(made), made, known, options)
        found = unknowns["connections in turn"]
        assert (found.low, found.value, found.high) == (in_turn, in_turn, in_turn)
        assert fitted_server.in_turn == in_turn


def test_commits_contribute_to_the_time_per_stable_byte() -> None:
    costly = TRUE.model_copy(update={"disk_write": lognormal(700, 0.3, 20.0)})
    made = capture(costly, 40_000, 7)
    found = estimate(sampled(made)).disk_write
    assert found is not None
    assert found.ns_per_byte == pytest.approx(20, rel=0.15)
    assert found.median() == pytest.approx(700, rel=0.1)
    (rows,) = made
    commit, write = CLASSES.index("commit"), CLASSES.index("write")
    kind = rows["class"].to_numpy()
    dirty = sampled(made).dirty
    assert np.isnan(dirty[kind == commit]).any(), "what was written long before a commit"
    assert not np.isnan(dirty[kind == write]).any()


def test_reports_unknowns_without_evidence(calls: list[pa.RecordBatch]) -> None:
    warm = TRUE.model_copy(update={"memory": 1 << 40, "warm": 1.0})
    made = capture(warm, 8_000, 5)
    server, unknowns = fitted(sampled(made), made, KNOWN, QUICK)
    for name in ("memory in use", "found in memory at first", "disk read", "link"):
        assert unknowns[name].value is None, name
        assert unknowns[name].why, name
    least = unknowns["memory in use"].low
    assert least is not None
    assert server.memory > least


def test_kinds_of_calls_that_are_seldom_alone_are_named(calls: list[pa.RecordBatch]) -> None:
    few = [calls[0].slice(0, 60)]
    server, unknowns = fitted(sampled(few), few, KNOWN, QUICK)
    own = unknowns["other calls on the processor"]
    assert (own.value, own.unit) == (None, "μs")
    seen = {CLASSES[kind] for kind in few[0]["class"].to_pylist()}
    missing = sorted(seen - set(server.work), key=CLASSES.index)
    assert missing
    assert f"fewer than 30 of {', '.join(missing)} came alone: 50 μs assumed" in own.why
    _, unknowns = fitted(sampled(calls), calls, KNOWN, QUICK)
    assert "other calls on the processor" not in unknowns


def test_the_second_half_is_predicted_from_the_first(
    tmp_path: Path, calls: list[pa.RecordBatch]
) -> None:
    folder = dataset(tmp_path / "d", operations(calls[0]))
    found = fit(survey(folder), KNOWN, QUICK)
    assert found.calls == pytest.approx(20_000, abs=2)
    everything = next(row for row in found.held_out.rows if row.kind == "all")
    assert everything.calls == pytest.approx(20_000, abs=2)
    assert abs(everything.away["mean"]) < 0.15
    assert abs(everything.away["p50"]) < 0.1
    assert found.held_out.error("all", "mean") == abs(np.log1p(everything.away["mean"]))
    assert found.held_out.error("nothing", "mean") == float("inf")


def test_separates_the_time_per_byte_from_the_fixed_time() -> None:
    random = np.random.default_rng(1)
    moved = random.choice([1000.0, 8000.0, 32000.0], 5000)
    latency = 80 * np.exp(0.3 * random.standard_normal(5000)) + 0.004 * moved
    found = distribution(latency, moved)
    assert found.ns_per_byte == pytest.approx(4, rel=0.05)
    assert found.median() == pytest.approx(80, rel=0.03)
    assert distribution(latency, np.zeros(5000)).ns_per_byte == 0


def test_a_drawn_distribution_has_its_median() -> None:
    assert lognormal(70, 0.5).median() == pytest.approx(70)
    assert Distribution.constant(5).scaled(3).median() == 15
    server = drawn_server(np.random.default_rng(1))
    assert server == drawn_server(np.random.default_rng(1))
