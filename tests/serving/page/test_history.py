from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

import pytest

from birthmark.serving.metrics.buckets import SECONDS
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.page.history import MINUTES, History, quantile
from birthmark.serving.page.totals import Totals, totals
from birthmark.serving.page.traffic import followed, predicates, scopes, traffic


def counting() -> Iterator[Totals]:
    """Yield totals of a service that answers two requests between samples."""
    n = 0
    while True:
        seconds = {0.001: n, 0.002: 2 * n, float("inf"): 2 * n}
        yield Totals(
            seconds, {"lock": (n, n)}, {"directory": 3 * n, "nothing": n}, operations=120 * n
        )
        n += 1


def history() -> History:
    source = counting()
    return History(lambda: next(source))


def test_a_sample_holds_the_counts_since_the_last_one() -> None:
    recorded = history()
    recorded.take()
    recorded.take()
    samples, counted = recorded.now()
    assert [sample.requests for sample in samples] == [2, 2, 2]
    assert [sample.answers() for sample in samples] == [{"lock": (1, 1)}] * 3
    assert [list(sample.scopes) for sample in samples] == [[3, 0, 0, 1]] * 3
    assert [sample.operations for sample in samples] == [120, 120, 120]
    assert counted.answers == {"lock": (3, 3)}


def test_the_history_is_limited_to_a_day() -> None:
    recorded = history()
    for _ in range(MINUTES + 10):
        recorded.take()
    samples, _ = recorded.now()
    assert len(samples) == MINUTES + 1
    assert samples[0].keys is samples[-1].keys
    drawn = traffic(samples)
    assert drawn["requests"] == 2 * (MINUTES + 1)
    (row,) = predicates(samples, ["lock"])
    assert (row["answers"], row["yes"]) == (2 * (MINUTES + 1), 0.5)
    assert len(row["line"][0]) <= 97
    creates = scopes(samples)
    assert (creates["creates"], creates["share"]) == (4 * (MINUTES + 1), 75)
    assert [each["share"] for each in creates["rows"]] == [75, 0, 0, 25]
    assert {y for _, y in creates["rows"][0]["line"][0]} == {25}


def test_the_rate_of_operations_is_shown_if_a_follower_reports_them() -> None:
    operations = iter([None, 500.0, 800.0, 60.0])
    recorded = History(lambda: Totals(operations=next(operations)))
    for _ in range(2):
        recorded.take()
    samples = [replace(sample, seconds=60.0) for sample in recorded.now()[0]]
    # the first follower, then 300 more, then a restart
    assert [sample.operations for sample in samples] == [None, 300, 60]
    found = followed(samples)
    assert found["now"] == 3
    assert [len(line) for line in found["line"]] == [2]
    assert followed(samples[:1]) == {"now": None, "line": [], "top": 1.0}


def test_without_creates_there_are_no_shares() -> None:
    found = scopes(History(Totals).now()[0])
    assert (found["creates"], found["share"]) == (0, None)
    assert [(each["share"], each["line"]) for each in found["rows"]] == [(None, [])] * 4


def test_quantiles_are_those_of_the_histogram() -> None:
    recorded = history()
    recorded.take()
    samples, _ = recorded.now()
    assert quantile(samples, 0.25) == pytest.approx(0.0005)
    assert quantile(samples, 0.75) == pytest.approx(0.0015)
    assert quantile([], 0.5) is None


def test_totals_are_those_of_the_metrics() -> None:
    metrics = Metrics(stale_days=3)
    answered = [
        ("/v1/predictions", 200, 0.0015),
        ("/v1/hints", 200, 0.0001),
        ("/metrics", 200, 1.0),
        ("/", 500, 1.0),
    ]

    class Front:
        def requests(self) -> tuple[list[tuple[str, int, list[int], float]], int]:
            ends = [*SECONDS, math.inf]
            counts = {
                time: [int(bisect_left(ends, time) == place) for place in range(len(ends))]
                for _, _, time in answered
            }
            return [(route, status, counts[time], time) for route, status, time in answered], 1

    metrics.watch_requests(Front())  # type: ignore[arg-type]
    found = totals(metrics)
    assert (found.seconds[0.0005], found.seconds[0.002], found.seconds[float("inf")]) == (1, 2, 2)
    assert (found.failed, found.shed) == (1, 1)
