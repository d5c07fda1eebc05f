"""Charts of the last day: requests, latency, share of yes, and history scopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from birthmark.data.common.percentages import percent
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.serving.page import charts
from birthmark.serving.page.history import Sample, quantile

LEAST_TOP = 0.05
"""The least upper end of the axis for a share of yes."""


def traffic(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the charts of requests and latency, and their totals."""
    groups = _groups(samples)
    ends = [group[-1].until for group in groups]
    # over midnight, with the day: otherwise the same time could appear twice
    form = "%H:%M" if len({end.date() for end in ends}) < 2 else "%a %H:%M"
    times = [end.strftime(form) for end in ends]
    rates = [_rate(group) for group in groups]
    medians, slowest = (
        [_milliseconds(quantile(group, share)) for group in groups] for share in (0.5, 0.99)
    )
    return {
        "charts": [
            charts.chart("Requests", "per second", times, rate=rates),
            charts.chart("Latency", "ms", times, median=medians, slowest=slowest),
        ],
        "requests": sum(sample.requests for sample in samples),
        "median": _milliseconds(quantile(samples, 0.5)),
        "slowest": _milliseconds(quantile(samples, 0.99)),
    }


def predicates(samples: Sequence[Sample], known: Sequence[str]) -> list[dict[str, Any]]:
    """Return the share of yes by predicate, over time and in all; `known` come first.

    Shares are from 0 to 1.
    """
    groups = [_answers(group) for group in _groups(samples)]
    every = _answers(samples)
    rows = []
    for key in [*known, *sorted(every.keys() - set(known))]:
        shares = [_share(group.get(key)) for group in groups]
        top = charts.rounded(max([LEAST_TOP, *(share or 0.0 for share in shares)]))
        rows.append(
            {
                "predicate": key,
                "answers": sum(every.get(key, (0, 0))),
                "yes": _share(every.get(key)),
                "line": charts.segments(shares, top),
                "top": top,
            }
        )
    return rows


def scopes(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return how many creates were answered by history scope, over time and in all.

    Shares are in percent of the creates.
    """
    groups = [_scopes(group) for group in _groups(samples)]
    every = _scopes(samples)
    creates = sum(every)
    rows = [
        {
            "scope": scope,
            "creates": every[index],
            "share": percent(every[index], creates),
            "line": charts.segments([percent(group[index], sum(group)) for group in groups], 100.0),
        }
        for index, scope in enumerate(HISTORY_SCOPES)
    ]
    return {"creates": creates, "rows": rows, "share": percent(creates - every[-1], creates)}


def followed(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the operations per second of the live history's follower, now and over time.

    ``now`` is None if unknown; ``line`` is drawn up to ``top``.
    """
    rates = [_followed(group) for group in _groups(samples)]
    top = charts.rounded(max([1.0, *(rate or 0.0 for rate in rates)]))
    # the last sample may span only a moment, so average it with the one before
    return {"now": _followed(samples[-2:]), "line": charts.segments(rates, top), "top": top}


def _followed(group: Sequence[Sample]) -> float | None:
    known = [sample for sample in group if sample.operations is not None]
    seconds = max(1.0, sum(sample.seconds for sample in known))
    return sum(sample.operations or 0 for sample in known) / seconds if known else None


def _groups(samples: Sequence[Sample]) -> list[Sequence[Sample]]:
    """Return groups of samples, one for each point of a line."""
    size = -(-len(samples) // charts.STEPS)
    return [samples[start : start + size] for start in range(0, len(samples), size)]


def _rate(group: Sequence[Sample]) -> float:
    # right after a sample the last one spans next to nothing
    seconds = max(1.0, sum(sample.seconds for sample in group))
    return sum(sample.requests for sample in group) / seconds


def _answers(group: Sequence[Sample]) -> Mapping[str, tuple[int, int]]:
    rows: dict[str, tuple[int, int]] = {}
    for sample in group:
        for key, (no, yes) in sample.answers().items():
            counts = rows.get(key, (0, 0))
            rows[key] = (counts[0] + no, counts[1] + yes)
    return rows


def _scopes(group: Sequence[Sample]) -> list[int]:
    return [sum(sample.scopes[index] for sample in group) for index in range(len(HISTORY_SCOPES))]


def _share(counts: tuple[int, int] | None) -> float | None:
    return counts[1] / sum(counts) if counts and sum(counts) else None


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
