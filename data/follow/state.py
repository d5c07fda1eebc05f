"""From where a follower goes on after it was killed.

    OUT/.state/2026-11-21T09/place.json     where the source was read when the hour's dataset ended
    OUT/.state/2026-11-21T09/lives          what was known of the files that were alive

A state is written before its dataset gets its place, and is one from then on: the newest whose
dataset is there. What is read behind its place makes the datasets that follow. So that the first
calls and replies behind it find their own, the source is read again from a while before.

Each has its name as long as it is whole: while it is written, and removed, it has one that is
hidden.
"""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

from birthmark.data.common import durable

STATES = ".state"
_PLACE, _LIVES, _USED = "place.json", "lives", "dataset"

Place = tuple[str, int, int]
"""A file, the time of its first record in microseconds since the epoch, and bytes before."""

KEPT = 10_000_000
"""A place is kept for every so many microseconds of the trace's time."""


@dataclass(frozen=True)
class State:
    """Where a dataset ended.

    Attributes:
        dataset: its name.
        number: of the states of one directory each has a higher one than those before.
        warm: the place from which the source is read again.
        place: the place where the dataset ended, and `clock` the trace's time there, in
            microseconds since the epoch.
    """

    dataset: str
    number: int
    warm: Place
    place: Place
    clock: int


class Warm:
    """The places from which so many microseconds of the trace's time were read.

    `first` is where reading begins, None: at the beginning of the first file.
    """

    def __init__(self, reach: int, first: Place | None = None) -> None:
        self._reach = reach
        self._places: deque[tuple[float, Place]] = deque()
        if first is not None:
            self._places.append((-inf, first))

    def pass_by(self, clock: int, place: Place) -> None:
        """Take note of a place, and of the trace's time there."""
        if not self._places:
            self._places.append((-inf, (*place[:2], 0)))
        if clock >= self._places[-1][0] + KEPT:
            self._places.append((clock, place))
        while len(self._places) > 1 and self._places[1][0] <= clock - self._reach:
            self._places.popleft()

    def before(self, place: Place) -> Place:
        """Return the place from which to read, so that all is known at another."""
        return self._places[0][1] if self._places else place


def lives(out: Path, state: State) -> Path:
    """Return the file that holds the lives of a state."""
    return out / STATES / state.dataset / _LIVES


def keep(out: Path, state: State, save: Callable[[Path], None]) -> None:
    """Keep a state, and the lives that `save` writes to a file, for when its dataset is there."""
    folder = out / STATES / state.dataset
    folder.parent.mkdir(exist_ok=True)
    with durable.replaced(folder) as aside:
        aside.mkdir()
        save(aside / _LIVES)
        told = asdict(state) | {"crc32": _checksum(asdict(state))}
        (aside / _PLACE).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def settle(out: Path, dataset: str) -> None:
    """Take note that the state of a dataset is used from now on, and let go of older ones."""
    kept = out / STATES / dataset
    (kept / _USED).touch()
    durable.sync(kept)
    for folder in _folders(out):
        if folder != kept and _is_used(out, folder):
            durable.remove(folder.rename(folder.with_name(f".{folder.name}.old")))


def newest(out: Path) -> State | None:
    """Return the state from which a follower of `out` goes on, if there is one.

    Raises:
        OSError: it cannot be read; FileNotFoundError, if a follower replaced it meanwhile.
        ValueError: it is damaged.
    """
    places = [folder / _PLACE for folder in _folders(out) if _is_used(out, folder)]
    return max(map(_read, places), key=lambda told: told.number, default=None)


def _read(place: Path) -> State:
    try:
        told = json.loads(place.read_bytes())
        checksum = told.pop("crc32")
        if checksum != _checksum(told):
            raise ValueError("its checksum is another")
        return State(**told | {name: tuple(told[name]) for name in ("warm", "place")})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{place}: expected where a follower goes on: {error}") from error


def _checksum(told: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(told, sort_keys=True).encode())


def _folders(out: Path) -> list[Path]:
    return [folder for folder in _all(out) if not folder.name.startswith(".")]


def _all(out: Path) -> list[Path]:
    return list((out / STATES).iterdir()) if (out / STATES).is_dir() else []


def clear(out: Path) -> None:
    """Remove states whose datasets were not finished, or that are old. Only who is alone may."""
    for folder in _all(out):
        if folder.name.startswith(".") or not _is_used(out, folder):
            durable.remove(folder)


def _is_used(out: Path, folder: Path) -> bool:
    return (folder / _USED).exists() or (out / folder.name).exists()
