"""The state from which a follower continues after it was killed.

     OUT/.state/2026-11-21T09/place.json     place in the source when the hour's dataset ended
    OUT/.state/2026-11-21T09/lives          the lives of the files that were alive

A state is written before its dataset is published, and is valid from then on: the newest whose
    dataset exists is used. The input after its place makes the following datasets. Reading restarts
    a while before it, so that replies after it find their calls.

A state has its name only while it is complete: it is hidden while it is written or removed.
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
"""A file, the time of its first record in microseconds since the epoch, and a byte offset."""

PLACE_INTERVAL = 10_000_000
"""Microseconds of the trace's time between places that are stored."""


@dataclass(frozen=True)
class State:
    """Where a dataset ended.

    Attributes:
        dataset: its name.
        number: states of one directory are numbered in ascending order.
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
    """Places in the last stretch of the trace, to restart from.

    `first` is where reading begins; None: at the beginning of the first file.
    """

    def __init__(self, reach: int, first: Place | None = None) -> None:
        self._reach = reach
        self._places: deque[tuple[float, Place]] = deque()
        if first is not None:
            self._places.append((-inf, first))

    def pass_by(self, clock: int, place: Place) -> None:
        """Record a place, and the trace's time there."""
        if not self._places:
            self._places.append((-inf, (*place[:2], 0)))
        if clock >= self._places[-1][0] + PLACE_INTERVAL:
            self._places.append((clock, place))
        while len(self._places) > 1 and self._places[1][0] <= clock - self._reach:
            self._places.popleft()

    def before(self, place: Place) -> Place:
        """Return the place to read from so that all is known at another."""
        return self._places[0][1] if self._places else place


def lives(out: Path, state: State) -> Path:
    """Return the file that holds the lives of a state."""
    return out / STATES / state.dataset / _LIVES


def keep(out: Path, state: State, save: Callable[[Path], None]) -> None:
    """Save a state, and the lives that `save` writes to a file, before its dataset is published."""
    folder = out / STATES / state.dataset
    folder.parent.mkdir(exist_ok=True)
    with durable.replaced(folder) as temporary:
        temporary.mkdir()
        save(temporary / _LIVES)
        content = asdict(state) | {"crc32": _checksum(asdict(state))}
        (temporary / _PLACE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def settle(out: Path, dataset: str) -> None:
    """Mark the state of a dataset as used from now on, and remove older ones."""
    current = out / STATES / dataset
    (current / _USED).touch()
    durable.sync(current)
    for folder in _folders(out):
        if folder != current and _is_used(out, folder):
            durable.remove(folder.rename(folder.with_name(f".{folder.name}.old")))


def newest(out: Path) -> State | None:
    """Return the state from which a follower of `out` continues, if there is one.

    Raises:
        OSError: it cannot be read; FileNotFoundError, if a follower replaced it meanwhile.
        ValueError: it is damaged.
    """
    places = [folder / _PLACE for folder in _folders(out) if _is_used(out, folder)]
    return max(map(_read, places), key=lambda state: state.number, default=None)


def _read(place: Path) -> State:
    try:
        content = json.loads(place.read_bytes())
        checksum = content.pop("crc32")
        if checksum != _checksum(content):
            raise ValueError("its checksum does not match")
        return State(**content | {name: tuple(content[name]) for name in ("warm", "place")})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{place}: expected the state of a follower: {error}") from error


def _checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def _folders(out: Path) -> list[Path]:
    return [folder for folder in _all(out) if not folder.name.startswith(".")]


def _all(out: Path) -> list[Path]:
    return list((out / STATES).iterdir()) if (out / STATES).is_dir() else []


def clear(out: Path) -> None:
    """Remove unpublished and old states. Call only while holding the directory lock."""
    for folder in _all(out):
        if folder.name.startswith(".") or not _is_used(out, folder):
            durable.remove(folder)


def _is_used(out: Path, folder: Path) -> bool:
    return (folder / _USED).exists() or (out / folder.name).exists()
