"""Ingestion of followed hours by the nightly run, without captures.

    <datasets>/<since>-<hash>/              a dataset of all hours since the night before
    <datasets>/<since>-<hash>/intake.json   as for traces (`training.nightly.intake`); its
                                            traces are the records of the hours

Each hour is ingested once, by its record.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from birthmark.data.common import durable
from birthmark.data.datasets import ingests
from birthmark.data.follow import state
from birthmark.data.follow.combine import HourRange, combine, finished
from birthmark.training.nightly.intake import (
    INTAKE,
    Entry,
    about,
    clean_up_interrupted,
    known,
    named,
)

UNTIL = "followed_until"
"""Member of an intake: end of the lives that outlast its hours, microseconds since the epoch."""

TRIES = 3
"""Attempts to read the follower's state, which it replaces every hour."""


def take_in_hours(followed: Path, directory: Path) -> Path | None:
    """Make a dataset in `directory` of the new hours; None if there are none.

    Raises:
        OSError: an hour cannot be read, or the dataset cannot be written.
        ValueError: an hour, or the state of the follower, is damaged.
    """
    for left in reversed(range(TRIES)):
        try:
            return _take_in(followed, directory)
        except FileNotFoundError:
            if not left:
                raise
    return None


def _take_in(followed: Path, directory: Path) -> Path | None:
    ingested = set(known(directory))
    hours, last = finished(followed)
    new = {hour: entries for hour in hours if not ingested.issuperset(entries := entries_of(hour))}
    if not new:
        return None
    living = None if last is None else state.lives(followed, last)
    stretch = HourRange(list(new), _until(directory), living)
    entries = [entry for own in new.values() for entry in own]
    path = directory / named(entries, _began(stretch.hours))
    until = None if last is None else last.clock

    def write(temporary: Path) -> None:
        summary = combine(stretch, temporary, known_as=path)
        intake = {**about(entries, summary, temporary), UNTIL: until}
        (temporary / INTAKE).write_text(json.dumps(intake, indent=2) + "\n", encoding="utf-8")

    durable.made(path, write)
    clean_up_interrupted(directory)
    return path


def entries_of(hour: Path) -> list[Entry]:
    """Return the records of an hour, which identify it in the ledger."""
    return [Entry.of(path) for path in sorted((hour / ingests.FOLDER).glob("*.json"))]


def _until(directory: Path) -> int | None:
    """Return the end of the lives ingested from earlier hours, if any."""
    intakes = [json.loads(path.read_bytes()) for path in directory.glob(f"[!.]*/{INTAKE}")]
    return max((each[UNTIL] for each in intakes if each.get(UNTIL) is not None), default=None)


def _began(hours: Sequence[Path]) -> int | None:
    periods = [record["period"] for hour in hours for record in ingests.records(hour).values()]
    return min((period[0] for period in periods if period), default=None)
