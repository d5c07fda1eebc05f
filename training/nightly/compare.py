"""The decision whether a newly trained model replaces the published one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.predictor import Predicate, TrainedModel
from birthmark.training.config import Training
from birthmark.training.evaluate.assessment import Assessment, assess
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.learn.train import Lives, train
from birthmark.training.nightly.horizon import learned_until
from birthmark.training.nightly.newest_day import Period, newest


@dataclass(frozen=True)
class Decision:
    """Whether to publish, the reason, and the mean of `correct` (percent) of both models.

    `day` is the day of the comparison; None without a complete day.
    """

    publish: bool
    reason: str
    champion: float | None = None
    candidate: float | None = None
    day: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON objects."""
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """The test of a model trained as the successor will be, on later lives.

    `files` and `names` births of `period` were predicted. `champion` is the `EVALUATION` of the
    published model on the same births, if there is one.
    """

    period: Period
    files: int
    names: int
    assessment: Assessment
    champion: pa.Table | None = None


def decide(
    champion: TrainedModel,
    manifest: Mapping[str, Any],
    lives: Lives,
    settings: Training,
    predicates: Iterable[Predicate],
    serve: str,
    estimators: Mapping[str, Any] = {},
) -> tuple[Decision, Comparison | None]:
    """Compare the published model with one trained as its successor would be.

    Both are tested on the newest complete day of `lives`, less the champion's training data. The
    candidate is trained on earlier lives, so that neither has seen the test. If `lives` hold no
    complete day, the newest quarter replaces it. Models of the kind `serve` are compared, by the
    mean of `correct` over the common predicates at the accurate operating point; a champion without
    that kind is tested with the kind that it serves. Both models' histories extend to the beginning
    of the test. Returns the decision, and the test if there was one.
    """
    until = learned_until(manifest, datetime.now(UTC))
    period = newest(lives, settings.zone, until)
    if period is None:
        return Decision(False, "the published model has learned from the newest complete day"), None
    older, newer = period.split(lives)
    if not len(older.files) or not len(newer.files):
        return Decision(True, "there are too few new lives to compare models on"), None
    # Bring the champion's histories up to the beginning of the test, like the candidate's.
    unseen = older if until is None else older.born(since=until + timedelta(microseconds=1))
    champion.follow(unseen.files, unseen.names)
    theirs = evaluate(champion, newer.with_others(), newer.names)
    test = _tested(older, newer, period, settings, predicates, estimators, theirs)
    their_kind = serve if serve in champion.kinds else manifest["serve"]
    before, after = _shared_means([(theirs, their_kind), (test.assessment.evaluation, serve)])
    return _judge(before, after, settings.margin, period.day), test


def test_first(
    lives: Lives,
    settings: Training,
    predicates: Iterable[Predicate] | None,
    estimators: Mapping[str, Any],
) -> Comparison | None:
    """Test a model trained without a champion; None if there are too few lives."""
    period = newest(lives, settings.zone)
    older, newer = period.split(lives) if period else (lives, lives)
    if period is None or not len(older.files) or not len(newer.files):
        return None
    return _tested(older, newer, period, settings, predicates, estimators)


def _tested(
    older: Lives,
    newer: Lives,
    period: Period,
    settings: Training,
    predicates: Iterable[Predicate] | None,
    estimators: Mapping[str, Any],
    champion: pa.Table | None = None,
) -> Comparison:
    model, _ = train(older, settings, predicates, estimators)
    # Directories are no births, but give the depth.
    found = assess(model, newer.with_others(), newer.names)
    return Comparison(period, len(newer.files), len(newer.names), found, champion)


def _judge(
    champion: float | None, candidate: float | None, margin: float, day: str | None
) -> Decision:
    if champion is None or candidate is None:
        reason = "no predicate has known answers for a test of both models"
        return Decision(True, reason, day=day)
    text = f"correct {candidate:.2f}%, the published model {champion:.2f}%"
    text += f", on {day}" if day else ""
    if candidate >= champion - margin:
        return Decision(True, f"no worse: {text}", champion, candidate, day)
    return Decision(False, f"worse by more than {margin:g}: {text}", champion, candidate, day)


def _shared_means(results: Iterable[tuple[pa.Table, str]]) -> list[float | None]:
    """Return the mean of `correct` over the predicates common to all evaluations.

    Each evaluation is paired with a kind of model.
    """
    figures = [
        {
            (row["subject"], row["predicate"]): row["correct"]
            for row in result.to_pylist()
            if (row["model"], row["point"]) == (kind, "accurate") and row["correct"] is not None
        }
        for result, kind in results
    ]
    shared = sorted(set.intersection(*map(set, figures)))
    return [float(np.mean([f[k] for k in shared])) if shared else None for f in figures]
