"""Counts since the service began, for the page, read from the metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from birthmark.serving.metrics.metrics import Metrics

ROUTES = frozenset({"/v1/predictions", "/v1/hints"})
"""The routes whose requests and latency the page shows."""


@dataclass(frozen=True)
class Totals:
    """Counts since the service began, in all its threads.

    `seconds` are cumulative counts of requests to `ROUTES` by the upper ends of the histogram's
    buckets. `answers` are no and yes by predicate, `scopes` creates answered by history scope.
    `rows` are those of the prediction log by outcome. `failed` are requests with an internal error,
    of any route. `operations` are those that the live history's follower has followed, None without
    one.
    """

    seconds: dict[float, float] = field(default_factory=dict)
    answers: dict[str, tuple[float, float]] = field(default_factory=dict)
    scopes: dict[str, float] = field(default_factory=dict)
    rows: dict[str, float] = field(default_factory=dict)
    failed: float = 0.0
    shed: float = 0.0
    operations: float | None = None


def totals(metrics: Metrics) -> Totals:
    """Return the current counts of `metrics`."""
    seconds: dict[float, float] = {}
    answers: dict[str, list[float]] = {}
    scopes: dict[str, float] = {}
    rows: dict[str, float] = {}
    operations: float | None = None
    failed = shed = 0.0
    for sample in chain.from_iterable(family.samples for family in metrics.families()):
        labels, value = sample.labels, sample.value
        match sample.name:
            case "birthmark_request_seconds_bucket" if labels["route"] in ROUTES:
                end = float(labels["le"])
                seconds[end] = seconds.get(end, 0.0) + value
            case "birthmark_request_seconds_count" if labels["status"] == "500":
                failed += value
            case "birthmark_predictions_total":
                counts = answers.setdefault(labels["predicate"], [0.0, 0.0])
                counts[labels["answer"] == "yes"] += value
            case "birthmark_told_total":
                scopes[labels["told"]] = value
            case "birthmark_live_operations_total":
                operations = value
            case "birthmark_shed_total":
                shed += value
            case "birthmark_log_rows_total":
                rows[labels["outcome"]] = value
    pairs = {key: (no, yes) for key, (no, yes) in answers.items()}
    return Totals(dict(sorted(seconds.items())), pairs, scopes, rows, failed, shed, operations)
