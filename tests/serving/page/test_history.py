from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.page.history import MINUTES, History, quantile
from birthmark.serving.page.totals import Totals, totals
from birthmark.serving.page.traffic import followed, predicates, told, traffic


def counting() -> Iterator[Totals]:
    """Yield totals of a service that answers two requests between each two looks."""
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


def test_a_sample_holds_what_was_counted_since_that_before() -> None:
    kept = history()
    kept.take()
    kept.take()
    samples, counted = kept.now()
    assert [sample.requests for sample in samples] == [2, 2, 2]
    assert [sample.answers() for sample in samples] == [{"lock": (1, 1)}] * 3
    assert [list(sample.told) for sample in samples] == [[3, 0, 0, 1]] * 3
    assert [sample.operations for sample in samples] == [120, 120, 120]
    assert counted.answers == {"lock": (3, 3)}


def test_a_day_is_kept_and_no_more() -> None:
    kept = history()
    for _ in range(MINUTES + 10):
        kept.take()
    samples, _ = kept.now()
    assert len(samples) == MINUTES + 1
    assert samples[0].keys is samples[-1].keys
    drawn = traffic(samples)
    assert drawn["requests"] == 2 * (MINUTES + 1)
    (row,) = predicates(samples, ["lock"])
    assert (row["answers"], row["yes"]) == (2 * (MINUTES + 1), 0.5)
    assert len(row["line"][0]) <= 97
    creates = told(samples)
    assert (creates["creates"], creates["share"]) == (4 * (MINUTES + 1), 75)
    assert [each["share"] for each in creates["rows"]] == [75, 0, 0, 25]
    assert {y for _, y in creates["rows"][0]["line"][0]} == {25}


def test_operations_are_followed_at_a_rate_where_a_follower_tells_of_them() -> None:
    told = iter([None, 500.0, 800.0, 60.0])
    kept = History(lambda: Totals(operations=next(told)))
    for _ in range(2):
        kept.take()
    samples = [replace(sample, seconds=60.0) for sample in kept.now()[0]]
    # from no follower to one, then 300 more, then another that has begun anew
    assert [sample.operations for sample in samples] == [None, 300, 60]
    found = followed(samples)
    assert found["now"] == 3
    assert [len(line) for line in found["line"]] == [2]
    assert followed(samples[:1]) == {"now": None, "line": [], "top": 1.0}


def test_where_no_create_was_answered_no_share_is_told() -> None:
    found = told(History(Totals).now()[0])
    assert (found["creates"], found["share"]) == (0, None)
    assert [(each["share"], each["line"]) for each in found["rows"]] == [(None, [])] * 4


def test_quantiles_are_those_of_the_histogram() -> None:
    kept = history()
    kept.take()
    samples, _ = kept.now()
    assert quantile(samples, 0.25) == pytest.approx(0.0005)
    assert quantile(samples, 0.75) == pytest.approx(0.0015)
    assert quantile([], 0.5) is None


def test_totals_are_those_of_the_metrics() -> None:
    metrics = Metrics(stale_days=3)
    metrics.request("/v1/predictions", 200, 0.0015)
    metrics.request("/v1/hints", 200, 0.0001)
    metrics.request("/metrics", 200, 1.0)
    metrics.request("/", 500, 1.0)
    metrics.shed(1)
    found = totals(metrics)
    assert (found.seconds[0.0005], found.seconds[0.002], found.seconds[float("inf")]) == (1, 2, 2)
    assert (found.failed, found.shed) == (1, 1)
