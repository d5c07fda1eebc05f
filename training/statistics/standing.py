"""What is known of a bound on wrong answers: one of four standings, told alike everywhere.

Of a share of wrong answers it was promised that it is a bound at most. What was seen of it is a
share with a 95% interval, and the standing is

- *shown broken* where a test says so that counts in how often it is asked: an audit's e-detector
  (`sequential`), or Holm's procedure over all predicates of an evaluation (`binomial`);
- else *above it today* where all of the interval is above the bound. Of bounds that are just kept,
  1 in 40 looks so by chance on any day: a reason to look, no more;
- else *holds* where all of the interval is within the bound;
- else *not enough seen*: the bound is inside the interval, or there is none. That the share itself
  is below the bound shows nothing yet: more of the same may show either.

The interval is exact (`binomial.interval`), so that of few rows it is wide even where none is
wrong: a bound of 1% cannot be said to hold before 368 of them (at a one-sided 95% the rule of three
would ask for 3 / bound). And it counts only if its blocks of time last `BURST` at least: what one
build does is one event, however many files it makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

Interval = tuple[float | None, float | None]

BURST = 60
"""Seconds that a block of time must last, for each to tell of a bound by itself.

A build or a delivery takes seconds to minutes: it lies in one or two of twenty such blocks, while
shorter ones cut it into many, which err together.
"""


class Standing(StrEnum):
    """What is known of a bound, the best first: so written in tables, pages, JSON and metrics."""

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
"""The colour of each in a terminal; in pages `report.css` has that of its words, hyphenated."""


def standing(bound: float, interval: Interval, seconds: float, broken: bool = False) -> Standing:
    """Return the standing of a bound by the 95% interval of the share that it limits.

    Both have the same unit. The ends of `interval` are None where nothing was seen that tells;
    `seconds` are how long its blocks of time are. `broken` is whether a test that may be asked so
    often has shown that the bound is broken.
    """
    low, high = interval
    if broken:
        return Standing.BROKEN
    if low is None or high is None or seconds < BURST:
        return Standing.UNSEEN
    if low > bound:
        return Standing.ABOVE
    return Standing.HOLDS if high <= bound else Standing.UNSEEN


def of_row(row: Mapping[str, Any]) -> Standing | None:
    """Return the standing of a row of `EVALUATION` or `SERVED`, by its other columns.

    None where no bound is promised, or where the model abstains: who never says yes is never wrong
    to.
    """
    if row["bound"] is None or row.get("abstained"):
        return None
    interval = row["false_positives_low"], row["false_positives_high"]
    return standing(row["bound"], interval, row["block_seconds"], bool(row["broken"]))


def key_of(row: Mapping[str, Any]) -> str:
    """Return the key of the predicate that a row is about."""
    about, name = row["subject"], row["predicate"]
    return str(name) if about == "file" else f"{about}:{name}"


def by_key(rows: Iterable[Mapping[str, Any]], version: str | None) -> dict[str, Mapping[str, Any]]:
    """Return for each predicate the row of `SERVED` that tells of its bound.

    It is of `version`, the published one, where that answered; else of what answered most.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["n"] > 0 and row["version"] == version, row["n"])):
        if row.get("standing"):  # which older audits do not have
            found[key_of(row)] = row
    return found


def over(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows that are above their bound, or show it broken: most false positives first."""
    worse = (Standing.ABOVE, Standing.BROKEN)
    some = (row for row in rows if row["n"] and row["standing"] in worse)
    return sorted(some, key=lambda row: -row["false_positives"])


def summary(standings: Iterable[Standing]) -> str:
    """Return what is known of bounds in words; `every bound holds` only where each one does."""
    counted = Counter(standings)
    if not counted:
        return "there is none to judge"
    if counted.keys() == {Standing.HOLDS}:
        return "every bound holds"
    return ", ".join(f"{one} {counted[one]}" for one in Standing if counted[one])


def in_words(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the `summary` of rows of `EVALUATION` or `SERVED`, and why too little was seen."""
    known = [row for row in rows if row["standing"]]
    words = summary(Standing(row["standing"]) for row in known)
    asked = [row for row in known if row["n"]]
    if asked and all(row["block_seconds"] < BURST for row in asked):
        words += (
            "; the time is too short to tell, which takes twenty blocks of a minute at least, so"
            " that one build is not in most of them"
        )
    return words
