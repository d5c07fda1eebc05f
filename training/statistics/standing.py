"""The standing of a bound on wrong answers: one of four, the same everywhere.

It is read from the two counts that decide when a yes may be said, the outcomes and the false
positives among them (``predictor.control.ledger``):

- *shown broken* if the evidence shows that more are wrong than the bound allows. If the bound is
  kept, that happens at any time with a chance of at most 5%;
- else *above it today* if the evidence is half of that, so that no yes is answered for now;
- else *holds* if the evidence shows that fewer are wrong;
- else *not enough seen*. Without errors a bound of 1% needs some 430 outcomes to hold.

A test on one period counts only as many independent outcomes as blocks of time show there are (the
design effect of J. Rao and A. Scott, "A simple method for the analysis of clustered binary data",
Biometrics 48, 1992). It counts only if its blocks last at least `BURST`: one build is one event,
however many files it makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from birthmark.data.common.arrays import Floats
from birthmark.predictor.control.ledger import Ledger
from birthmark.training.statistics.design_effect import design_effect

BURST = 60
"""Least length of a block of time, in seconds, for blocks to count as independent.

A build or a delivery takes seconds to minutes. It is in one or two of twenty such blocks, but would
be in many shorter ones, with correlated errors.
"""


class Standing(StrEnum):
    """The standing of a bound, best first, as written in tables, pages, JSON and metrics."""

    HOLDS = "holds"
    UNSEEN = "not enough seen"
    ABOVE = "above it today"
    BROKEN = "shown broken"


STYLES = {
    Standing.HOLDS: "green",
    Standing.UNSEEN: "dim",
    Standing.ABOVE: "yellow",
    Standing.BROKEN: "red",
}
"""The style of each in a terminal; `report.css` has those of pages, by hyphenated words."""


def standing(ledger: Ledger) -> Standing:
    """Return the standing of a bound by its counts."""
    if ledger.is_broken:
        return Standing.BROKEN
    if ledger.credit() <= 0:
        return Standing.ABOVE
    return Standing.HOLDS if ledger.is_kept else Standing.UNSEEN


def of_test(bound: float, alarms: Floats, rows: Floats, seconds: float) -> Standing:
    """Return the standing of a bound, a share, by the false positives of one period.

    `alarms` and `rows` are counts per block of time of `seconds`.
    """
    if seconds < BURST or not len(rows):
        return Standing.UNSEEN
    effect = design_effect(alarms, rows)
    return standing(Ledger(bound, rows.sum() / effect, alarms.sum() / effect))


def key_of(row: Mapping[str, Any]) -> str:
    """Return the key of a row's predicate."""
    about, name = row["subject"], row["predicate"]
    return str(name) if about == "file" else f"{about}:{name}"


def by_key(rows: Iterable[Mapping[str, Any]], version: str | None) -> dict[str, Mapping[str, Any]]:
    """Return each predicate's row of `SERVED` for the standing of its bound.

    It is that of `version`, the published one, if it answered; else of the model with most answers.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["n"] > 0 and row["version"] == version, row["n"])):
        if row.get("standing"):  # older audits have none
            found[key_of(row)] = row
    return found


def over(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows above their bound or with a broken one, most false positives first."""
    worse = (Standing.ABOVE, Standing.BROKEN)
    some = (row for row in rows if row["n"] and row["standing"] in worse)
    return sorted(some, key=lambda row: -row["false_positives"])


def summary(standings: Iterable[Standing]) -> str:
    """Return the standings in words; `every bound holds` only if each one does."""
    counted = Counter(standings)
    if not counted:
        return "there is no bound"
    if counted.keys() == {Standing.HOLDS}:
        return "every bound holds"
    return ", ".join(f"{one} {counted[one]}" for one in Standing if counted[one])


def in_words(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the `summary` of rows of `EVALUATION` or `SERVED`, and a remark on too short times."""
    known = [row for row in rows if row["standing"]]
    words = summary(Standing(row["standing"]) for row in known)
    tested = [row for row in known if row["n"]]
    if tested and all(row["block_seconds"] < BURST for row in tested):
        words += (
            "; the time is too short: a standing needs at least twenty blocks of a minute, so"
            " that one build is not in most of them"
        )
    return words
