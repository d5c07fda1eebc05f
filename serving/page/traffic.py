"""Requests, latency, share of yes and what was told over the last day, as they are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from birthmark.data.common.percentages import percent
from birthmark.features.told import TOLD
from birthmark.serving.page import charts
from birthmark.serving.page.history import Sample, quantile

TOP_OF_LITTLE = 0.05
"""The least end of the axis of a share of yes."""


def traffic(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return the charts of requests and latency, and what both say of all the time."""
    groups = _groups(samples)
    ends = [group[-1].until for group in groups]
    # over midnight, a day is told with the time: a day ago it was as late as now
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
    """Return by predicate how often the answer was yes, over time and in all; `known` come first.

    Shares are from 0 to 1.
    """
    groups = [_answers(group) for group in _groups(samples)]
    every = _answers(samples)
    found = []
    for key in [*known, *sorted(every.keys() - set(known))]:
        shares = [_share(group.get(key)) for group in groups]
        top = charts.rounded(max([TOP_OF_LITTLE, *(share or 0.0 for share in shares)]))
        found.append(
            {
                "predicate": key,
                "answers": sum(every.get(key, (0, 0))),
                "yes": _share(every.get(key)),
                "line": charts.segments(shares, top),
                "top": top,
            }
        )
    return found


def told(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return how many creates were answered, and of how many was told what, over time and in all.

    Shares are in percent of the creates.
    """
    groups = [_told(group) for group in _groups(samples)]
    every = _told(samples)
    creates = sum(every)
    rows = [
        {
            "told": each,
            "creates": every[place],
            "share": percent(every[place], creates),
            "line": charts.segments([percent(own[place], sum(own)) for own in groups], 100.0),
        }
        for place, each in enumerate(TOLD)
    ]
    return {"creates": creates, "rows": rows, "share": percent(creates - every[-1], creates)}


def followed(samples: Sequence[Sample]) -> dict[str, Any]:
    """Return how many operations a second the live history's follower follows, now and over time.

    ``now`` is None where that is not known; ``line`` is drawn up to ``top``.
    """
    rates = [_followed(group) for group in _groups(samples)]
    top = charts.rounded(max([1.0, *(rate or 0.0 for rate in rates)]))
    # what came since the last sample may be of a moment
    return {"now": _followed(samples[-2:]), "line": charts.segments(rates, top), "top": top}


def _followed(group: Sequence[Sample]) -> float | None:
    known = [sample for sample in group if sample.operations is not None]
    seconds = max(1.0, sum(sample.seconds for sample in known))
    return sum(sample.operations or 0 for sample in known) / seconds if known else None


def _groups(samples: Sequence[Sample]) -> list[Sequence[Sample]]:
    """Return samples that are drawn as one point each: as many together as make few enough."""
    size = -(-len(samples) // charts.STEPS)
    return [samples[start : start + size] for start in range(0, len(samples), size)]


def _rate(group: Sequence[Sample]) -> float:
    # a page asked for at once after a sample divides by next to nothing
    seconds = max(1.0, sum(sample.seconds for sample in group))
    return sum(sample.requests for sample in group) / seconds


def _answers(group: Sequence[Sample]) -> Mapping[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for sample in group:
        for key, (no, yes) in sample.answers().items():
            held = found.get(key, (0, 0))
            found[key] = (held[0] + no, held[1] + yes)
    return found


def _told(group: Sequence[Sample]) -> list[int]:
    return [sum(sample.told[place] for sample in group) for place in range(len(TOLD))]


def _share(counts: tuple[int, int] | None) -> float | None:
    return counts[1] / sum(counts) if counts and sum(counts) else None


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
