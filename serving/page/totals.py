"""What has been counted since the service began, as its page needs it: read from the metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

from birthmark.serving.metrics.metrics import Metrics

ASKED = frozenset({"/v1/predictions", "/v1/hints"})
"""The routes whose requests and latency are shown: what is asked at every create."""


@dataclass(frozen=True)
class Totals:
    """Counts since the service began, of all its workers.

    `seconds` are requests to `ASKED` by the upper ends of the histogram's buckets, each with those
    below it; `answers` are no and yes by predicate; `told` are creates answered, by what they were
    told of earlier files (``features.TOLD``); `failed` are requests of any route that ended
    in an error of the service; `rows` are those of the prediction log by outcome, none without one.
    `operations` are those that the live history's follower has followed, None if there is none.
    """

    seconds: dict[float, float] = field(default_factory=dict)
    answers: dict[str, tuple[float, float]] = field(default_factory=dict)
    told: dict[str, float] = field(default_factory=dict)
    rows: dict[str, float] = field(default_factory=dict)
    failed: float = 0.0
    shed: float = 0.0
    operations: float | None = None


def totals(metrics: Metrics) -> Totals:
    """Return what `metrics` have counted until now."""
    seconds: dict[float, float] = {}
    answers: dict[str, list[float]] = {}
    told: dict[str, float] = {}
    rows: dict[str, float] = {}
    operations: float | None = None
    failed = shed = 0.0
    for sample in chain.from_iterable(family.samples for family in metrics.families()):
        labels, value = sample.labels, sample.value
        match sample.name:
            case "birthmark_request_seconds_bucket" if labels["route"] in ASKED:
                end = float(labels["le"])
                seconds[end] = seconds.get(end, 0.0) + value
            case "birthmark_request_seconds_count" if labels["status"] == "500":
                failed += value
            case "birthmark_predictions_total":
                held = answers.setdefault(labels["predicate"], [0.0, 0.0])
                held[labels["answer"] == "yes"] += value
            case "birthmark_told_total":
                told[labels["told"]] = value
            case "birthmark_live_operations_total":
                operations = value
            case "birthmark_shed_total":
                shed += value
            case "birthmark_log_rows_total":
                rows[labels["outcome"]] = value
    pairs = {key: (no, yes) for key, (no, yes) in answers.items()}
    return Totals(dict(sorted(seconds.items())), pairs, told, rows, failed, shed, operations)
