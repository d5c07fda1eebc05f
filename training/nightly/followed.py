"""Hours that were followed, as the nightly run takes them in: no capture is needed.

    <datasets>/<since>-<hash>/              a dataset of all hours since the night before
    <datasets>/<since>-<hash>/intake.json   likewise as of traces (`training.nightly.intake`); its
                                            traces are the records of the hours

Each hour is taken in once, by its record, however long it stays.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from birthmark.data.common import durable
from birthmark.data.datasets import ingests
from birthmark.data.follow import state
from birthmark.data.follow.combine import Stretch, combine, finished
from birthmark.training.nightly.intake import INTAKE, Entry, about, known, named, settle

UNTIL = "followed_until"
"""In an intake: up to when lives that outlast its hours are in it, microseconds since the epoch."""

TRIES = 3
"""A follower replaces its state every hour: so often it is looked for where it was just gone."""


def take_in_hours(followed: Path, directory: Path) -> Path | None:
    """Make a dataset in `directory` of the hours that are new there; None if none are.

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
    taken = set(known(directory))
    hours, last = finished(followed)
    new = {hour: entries for hour in hours if not taken.issuperset(entries := entries_of(hour))}
    if not new:
        return None
    living = None if last is None else state.lives(followed, last)
    stretch = Stretch(list(new), _until(directory), living)
    entries = [entry for own in new.values() for entry in own]
    path = directory / named(entries, _began(stretch.hours))
    until = None if last is None else last.clock

    def write(aside: Path) -> None:
        summary = combine(stretch, aside, known_as=path)
        told = {**about(entries, summary, aside), UNTIL: until}
        (aside / INTAKE).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")

    durable.made(path, write)
    settle(directory)
    return path


def entries_of(hour: Path) -> list[Entry]:
    """Return the records of an hour, by which it is known to be taken in."""
    return [Entry.of(path) for path in sorted((hour / ingests.FOLDER).glob("*.json"))]


def _until(directory: Path) -> int | None:
    """Return up to when lives that outlasted earlier hours were taken in, if any were."""
    told = [json.loads(path.read_bytes()) for path in directory.glob(f"[!.]*/{INTAKE}")]
    return max((each[UNTIL] for each in told if each.get(UNTIL) is not None), default=None)


def _began(hours: Sequence[Path]) -> int | None:
    periods = [told["period"] for hour in hours for told in ingests.records(hour).values()]
    return min((period[0] for period in periods if period), default=None)
