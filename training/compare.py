"""Whether a newly trained model may replace the published one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from predictor import Predicate, TrainedModel
from training.config import Training
from training.evaluate import evaluate
from training.train import Lives, fit

NEWEST = 0.25
"""The part of the lives, by time of birth, that models are compared on."""


@dataclass(frozen=True)
class Decision:
    """Whether to publish, why, and the mean of `correct` (percent) of the two models compared."""

    publish: bool
    reason: str
    champion: float | None = None
    candidate: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON objects."""
        return asdict(self)


def decide(
    champion: TrainedModel,
    manifest: Mapping[str, Any],
    lives: Lives,
    settings: Training,
    predicates: Iterable[Predicate],
) -> tuple[Decision, pa.Table | None]:
    """Compare the published model with one trained as its successor would be.

    Both are tested on the newest quarter of `lives`, less what the champion was trained on, and
    the candidate is trained on what came before: so neither has seen what it is asked. The
    model kind that is to be served is compared, by the mean of `correct` over the predicates
    that both know, at the accurate threshold. The champion's histories are brought up to the
    beginning of the test, as the candidate's are. Returns the decision, and the candidate's
    `EVALUATION` where there was one.
    """
    champion_until = datetime.fromisoformat(manifest["trained_on"]["until"])
    split = split_time(lives, champion_until)
    older, newer = lives.born(before=split), lives.born(since=split)
    if not len(older.files) or not len(newer.files):
        return Decision(True, "the new lives are too few to compare models on"), None
    candidate, _ = fit(older, settings, predicates)
    # The candidate knows what was seen just before the test; the champion is to know it, too.
    unseen = older.born(since=champion_until + timedelta(microseconds=1))
    champion.follow(unseen.files, unseen.names)
    results = [evaluate(model, newer.files, newer.names) for model in (champion, candidate)]
    theirs, ours = shared_means(results, settings.serve)
    return _judge(theirs, ours, settings.margin), results[1]


def split_time(lives: Lives, champion_until: datetime) -> datetime:
    """Return the time that divides what the candidate is trained on from what both are tested on.

    It is when the newest quarter begins, or where later, just after the champion's last lesson;
    but where nothing is newer than that, the quarter it is.
    """
    born = lives.files["born"]
    microseconds = np.quantile(pc.cast(born, pa.int64()).to_numpy(), 1 - NEWEST, method="higher")
    quarter: datetime = pa.scalar(int(microseconds), born.type).as_py()
    after = pc.min(born.filter(pc.greater(born, champion_until))).as_py()
    return quarter if after is None else max(quarter, after)


def shared_means(results: Iterable[pa.Table], kind: str) -> list[float | None]:
    """Return each evaluation's mean of `correct` over the predicates that all of them tested."""
    figures = [
        {
            (row["subject"], row["predicate"]): row["correct"]
            for row in result.to_pylist()
            if (row["model"], row["point"]) == (kind, "accurate") and row["correct"] is not None
        }
        for result in results
    ]
    shared = set.intersection(*map(set, figures))
    return [float(np.mean([f[k] for k in shared])) if shared else None for f in figures]


def _judge(champion: float | None, candidate: float | None, margin: float) -> Decision:
    if champion is None or candidate is None:
        return Decision(True, "no predicate has known answers that both models could be tested on")
    text = f"correct {candidate:.2f}%, the published model {champion:.2f}%"
    if candidate >= champion - margin:
        return Decision(True, f"no worse: {text}", champion, candidate)
    return Decision(False, f"worse by more than {margin:g}: {text}", champion, candidate)
