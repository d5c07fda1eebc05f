"""Control by audits: the writer of thresholds where no follower sees the outcomes.

The outcomes of logged answers enter the same ledgers as those that a follower sees, but with all
history scopes together, as the log does not tell them. It has no scores either: so a threshold is
as calibrated while the ledger has credit, else above all scores. The answers between two audits are
pending, and nothing is reserved for them: what a night adds can exceed the guarantee
(``predictor.control.controller``) by what was wrong in that night.

The state is in the stored audits: an audit that is made again replaces its counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.control import Ledger
from birthmark.predictor.image.forest import NEVER
from birthmark.training.registry.thresholds import MovedThreshold, MovedThresholds
from birthmark.training.statistics.standing import key_of

Row = Mapping[str, Any]


def ledgers(rows: Iterable[Row], version: str, kind: str) -> dict[str, Ledger]:
    """Return by predicate the counts of a version's answers with a bound, in rows of `SERVED`.

    They are those of one `kind` of model.
    """
    found: dict[str, Ledger] = {}
    for row in rows:
        if (row["version"], row["model"]) == (version, kind) and row["bound"] is not None:
            own = found.setdefault(key_of(row), Ledger(row["bound"] / 100))
            own.outcomes += row["n"]
            own.false_positives += row["n_false_positive"]
    return found


def moved(
    rows: Iterable[Row], version: str, kind: str, bound: float, clock: int
) -> MovedThresholds:
    """Return the thresholds of a version and kind by the rows of all audits until `clock`, µs."""
    counted = ledgers(rows, version, kind)
    thresholds = [
        MovedThreshold(
            predicate=key,
            told=scope,
            calibrated=None,
            score=None,
            sum=None if ledger.credit() > 0 else NEVER,
            outcomes=int(ledger.outcomes),
            false_positives=int(ledger.false_positives),
        )
        for key, ledger in counted.items()
        for scope in HISTORY_SCOPES
    ]
    return MovedThresholds(
        version=version, kind=kind, bound=bound, clock=clock, thresholds=thresholds
    )
