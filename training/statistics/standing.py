"""The standing of a bound on wrong answers: one of four, the same everywhere.

The share of wrong answers should be at most the bound. Its estimate has a 95% interval, and the
standing is

- *shown broken* if a test with correction for multiplicity shows it: an audit's e-detector
  (`sequential`), or Holm's procedure over all predicates of an evaluation (`binomial`);
- else *above it today* if the whole interval is above the bound. By chance, this happens to 1 in 40
  bounds that are just kept on any day: a reason to check, no more;
- else *holds* if the whole interval is within the bound;
- else *not enough seen*: the bound is inside the interval, or there is no interval. A share below
  the bound shows nothing yet.

The interval is exact (`binomial.interval`), so with few rows it is wide even without errors: a
bound of 1% needs at least 368 rows to hold (at a one-sided 95%, the rule of three needs 3 / bound).
It counts only if its blocks of time last at least `BURST`: one build is one event, however many
files it makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

Interval = tuple[float | None, float | None]

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


def standing(bound: float, interval: Interval, seconds: float, broken: bool = False) -> Standing:
    """Return the standing of a bound by the 95% interval of the share that it limits.

    Both have the same unit. The ends of `interval` are None without data; `seconds` is the length
    of its blocks of time. `broken` is whether a test with correction for multiplicity has shown the
    bound broken.
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

    None without a bound, or if the model abstains: a predicate that always abstains has no false
    positives.
    """
    if row["bound"] is None or row.get("abstained"):
        return None
    interval = row["false_positives_low"], row["false_positives_high"]
    return standing(row["bound"], interval, row["block_seconds"], bool(row["broken"]))


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
