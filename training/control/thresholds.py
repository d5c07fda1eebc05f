"""The file in which a follower tells services the thresholds that outcomes have moved.

It stands beside the live history, and is replaced whole. Services obey it while they answer with
the version and kind that it is of, at the point that keeps a bound.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from birthmark.data.common import durable
from birthmark.data.follow.beside import thresholds as of_history
from birthmark.data.settings import Strict
from birthmark.features.told import Told


class MovedThreshold(Strict):
    """A threshold in force, and what was counted since the version was published.

    ``score`` is the least that is a yes (None: there is none), ``sum`` the same as images count it
    (``predictor.image.forest.Output``). A predicate whose bound an audit found broken has
    ``regained`` its yes where the bets since then say that the bound is kept.
    """

    predicate: str
    told: Told
    calibrated: float | None
    score: float | None
    sum: Annotated[int, Field(ge=0, lt=2**32)]
    outcomes: int
    false_positives: int
    regained: bool = False


class MovedThresholds(Strict):
    """The thresholds of one version; the outcomes known at `clock` (µs since the epoch) are in."""

    version: str
    kind: str
    bound: float
    clock: int
    thresholds: list[MovedThreshold]


def beside(history: Path) -> Path:
    """Return the path of the thresholds that belong to a live history."""
    return of_history(history)


def write(path: Path, moved: MovedThresholds) -> None:
    """Replace the file."""
    durable.write_text(path, moved.model_dump_json() + "\n")


def read(path: Path) -> MovedThresholds | None:
    """Return what is there, None if nothing is; raise `ValueError`, naming the file, for others."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return MovedThresholds.model_validate_json(content)
    except ValidationError as error:
        raise ValueError(
            f"{path}: expected thresholds as a follower writes them: {error}"
        ) from None
