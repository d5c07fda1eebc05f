"""The state of the last night, stored beside the registry's versions.

    <registry>/nightly.json     its begin, end, outcome, actions, and disk usage

The nightly run writes it when it begins and when it ends. So a killed night has begun and not
ended. The service and `birthmark doctor` report it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, get_args

from birthmark.training.registry.versions import Registry, RegistryError

STATE = "nightly.json"
LATE = timedelta(days=2)
"""Time without a successful night after which to warn."""

NIGHTS = 7
"""Number of nights for which a disk should have room."""

Outcome = Literal["done", "refused", "failed"]
"""Outcomes: complete; complete except for some traces or directories; failed."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_FORMAT = 1
_TIMES = ("began", "ended", "succeeded")


@dataclass(frozen=True)
class NightState:
    """The last night.

    `began` is the begin of the newest night. All else is of the newest night that ended: `ended`,
    `outcome`, `why` it failed, and its duration in `seconds`. `did` counts ``traces``,
    ``operations``, ``waiting``, ``refused``, ``set_aside``, ``left_out``, ``datasets`` and
    ``versions`` made, and the datasets ``removed`` and versions ``pruned`` by retention. `decision`
    is about the model that it trained, if any.

    `written` is the size of the new datasets and version in bytes; `held` has the total sizes of
    ``datasets`` and ``registry``, and `free` the bytes free on their disks. `succeeded` is the end
    of the last night that did not fail, and `failures` the number of nights since that failed or
    were killed.
    """

    began: datetime
    ended: datetime | None = None
    outcome: Outcome | None = None
    why: str | None = None
    seconds: float | None = None
    succeeded: datetime | None = None
    failures: int = 0
    decision: str | None = None
    did: Mapping[str, int] = field(default_factory=dict)
    written: int = 0
    held: Mapping[str, int] = field(default_factory=dict)
    free: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether the newest night is running or was killed."""
        return self.ended is None or self.began > self.ended

    def late(self, now: datetime) -> bool:
        """Whether the last success is long ago; before any night ended, whether the begin is."""
        return now - (self.succeeded or self.began) > LATE

    def short(self) -> list[str]:
        """Return the disks with too little space for `NIGHTS` such nights."""
        return [where for where, free in self.free.items() if free < NIGHTS * self.written]

    def to_json(self) -> bytes:
        """Return the stored form."""
        members = asdict(self)
        members |= {name: members[name] and members[name].isoformat() for name in _TIMES}
        return (json.dumps({"format": _FORMAT, **members}, indent=1) + "\n").encode()


def read(registry: Registry) -> NightState | None:
    """Return the state of the last night; None if no night was run on this registry.

    Raises `RegistryError` if it is damaged, or of a newer release.
    """
    content = registry.read(STATE)
    if content is None:
        return None
    try:
        members = json.loads(content)
        if members.pop("format") != _FORMAT:
            raise ValueError(f"expected format {_FORMAT}")
        members |= {
            name: members[name] and datetime.fromisoformat(members[name]) for name in _TIMES
        }
        return NightState(**members)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        place = f"{registry.place}/{STATE}"
        raise RegistryError(f"{place}: expected the state of a night: {error}") from error


class Recorder:
    """Records the state of a running night; call `add` with its actions before it ends."""

    def __init__(self, registry: Registry, datasets: Path) -> None:
        self._registry, self._datasets = registry, datasets
        self._state = self._begun(self._before(), datetime.now(UTC))
        self.trouble = self._write()
        """The error of writing the state, if any."""

    def add(
        self, did: Mapping[str, int], decision: str | None, made: Iterable[str], version: str | None
    ) -> None:
        """Add the actions, and the sizes of the datasets `made` and of the version."""
        written = sum(_size(self._datasets / name) for name in made)
        if version is not None:
            parts = self._registry.manifest(version)["parts"].values()
            written += sum(part["size"] for part in parts)
        self._state = replace(self._state, did=dict(did), decision=decision, written=written)

    def end(self, outcome: Outcome, why: str | None = None) -> None:
        """Record the end of the night."""
        now, before = datetime.now(UTC), self._state
        failed = outcome == "failed"
        places = {"datasets": self._datasets, **self._local}
        self._state = replace(
            before,
            ended=max(now, before.began),
            outcome=outcome,
            why=why,
            seconds=max(0.0, (now - before.began).total_seconds()),
            succeeded=before.succeeded if failed else now,
            failures=before.failures + 1 if failed else 0,
            held={name: _size(path) for name, path in places.items()},
            free={name: shutil.disk_usage(path).free for name, path in places.items()},
        )
        self.trouble = self._write()

    @property
    def _local(self) -> dict[str, Path]:
        """The registry's directory, if it exists and is no object store."""
        try:
            path = self._registry.path
        except RegistryError:
            return {}
        return {"registry": path} if path.is_dir() else {}

    def _before(self) -> NightState | None:
        try:
            return read(self._registry)
        except (RegistryError, OSError):  # losing the state must not fail the night
            return None

    @staticmethod
    def _begun(before: NightState | None, now: datetime) -> NightState:
        """Return the state of a new night; a previous night without end was killed."""
        if before is None:
            return NightState(now)
        return replace(before, began=now, failures=before.failures + before.is_open)

    def _write(self) -> str | None:
        try:
            self._registry.write(STATE, self._state.to_json())
        except OSError as error:  # the night itself reports errors of the registry
            return str(error)
        return None


@contextmanager
def recording(registry: Registry, datasets: Path) -> Iterator[Recorder]:
    """Record the state of the night in this block, which calls `end` unless it fails."""
    recorder = Recorder(registry, datasets)
    try:
        yield recorder
    except BaseException as error:
        recorder.add({}, None, [], None)
        recorder.end("failed", _in_words(error))
        raise


def _in_words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _size(path: Path) -> int:
    """Return the size of the files below `path`, except those that disappear meanwhile."""
    return sum(each.lstat().st_size for each in path.rglob("*") if each.is_file())
