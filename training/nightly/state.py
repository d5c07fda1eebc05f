"""What came of the last night, kept beside the registry's versions, so that it outlives the run.

    <registry>/nightly.json     when it began and ended, how, what it did, and what is held

Whoever runs nights writes it: once as a night begins, and once as it ends. So a night that was
killed is known by having begun and not ended. The service tells of it, and `birthmark doctor`.
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
"""How long no night may have succeeded until that is warned of."""

NIGHTS = 7
"""For so many nights there should be room on a disk."""

Outcome = Literal["done", "refused", "failed"]
"""It did all that there was to do; all but some traces or directories; it failed."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_FORMAT = 1
_TIMES = ("began", "ended", "succeeded")


@dataclass(frozen=True)
class NightState:
    """The last night.

    `began` is when the newest one did. All else is of the newest that ended: when it `ended`, how
    (`outcome`, and `why` it failed) and after how many `seconds`; `did` counts what it did, by
    ``traces``, ``operations``, ``waiting``, ``refused``, ``set_aside``, ``left_out``, ``datasets``
    and ``versions`` made, and ``removed`` and ``pruned``, which are datasets and versions that
    retention removed. `decision` is what it said of the model that it trained, if it did.

    `written` is how many bytes the datasets and the version have that it made; `held` by
    ``datasets`` and ``registry`` how many bytes there are, and `free` how many are left on their
    disks. `succeeded` is the end of the last night that did not fail, and `failures` how many did
    since, or were killed.
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
        """Whether the newest night has not ended: it is at work, or was killed."""
        return self.ended is None or self.began > self.ended

    def late(self, now: datetime) -> bool:
        """Whether it is long since a night did not fail; where none ever ended, since it began."""
        return now - (self.succeeded or self.began) > LATE

    def short(self) -> list[str]:
        """Return where there was less free than `NIGHTS` nights like it write."""
        return [where for where, free in self.free.items() if free < NIGHTS * self.written]

    def to_json(self) -> bytes:
        """Return it as it is stored."""
        told = asdict(self)
        told |= {name: told[name] and told[name].isoformat() for name in _TIMES}
        return (json.dumps({"format": _FORMAT, **told}, indent=1) + "\n").encode()


def read(registry: Registry) -> NightState | None:
    """Return the state of the last night; None where none was run on this registry.

    Raises `RegistryError` where it is damaged, or of a newer version of the program.
    """
    content = registry.read(STATE)
    if content is None:
        return None
    try:
        told = json.loads(content)
        if told.pop("format") != _FORMAT:
            raise ValueError(f"expected format {_FORMAT}")
        told |= {name: told[name] and datetime.fromisoformat(told[name]) for name in _TIMES}
        return NightState(**told)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        place = f"{registry.place}/{STATE}"
        raise RegistryError(f"{place}: expected the state of a night: {error}") from error


class Keeper:
    """Keeps the state while a night is at work; `tell` is given what it did before it ends."""

    def __init__(self, registry: Registry, datasets: Path) -> None:
        self._registry, self._datasets = registry, datasets
        self._state = self._begun(self._before(), datetime.now(UTC))
        self.trouble = self._write()
        """Why the state could not be written, if it could not."""

    def tell(
        self, did: Mapping[str, int], decision: str | None, made: Iterable[str], version: str | None
    ) -> None:
        """Take note of what was done; of the datasets `made`, and the version, count the bytes."""
        written = sum(_size(self._datasets / name) for name in made)
        if version is not None:
            parts = self._registry.manifest(version)["parts"].values()
            written += sum(part["size"] for part in parts)
        self._state = replace(self._state, did=dict(did), decision=decision, written=written)

    def end(self, outcome: Outcome, why: str | None = None) -> None:
        """Say how the night ended."""
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
        """The registry's directory, unless it is in an object store, or not there yet."""
        try:
            path = self._registry.path
        except RegistryError:
            return {}
        return {"registry": path} if path.is_dir() else {}

    def _before(self) -> NightState | None:
        try:
            return read(self._registry)
        except (RegistryError, OSError):  # a state that is lost costs no night
            return None

    @staticmethod
    def _begun(before: NightState | None, now: datetime) -> NightState:
        """Return the state of a night that begins; one before it that did not end was killed."""
        if before is None:
            return NightState(now)
        return replace(before, began=now, failures=before.failures + before.is_open)

    def _write(self) -> str | None:
        try:
            self._registry.write(STATE, self._state.to_json())
        except OSError as error:  # what is wrong with the registry the night itself will tell
            return str(error)
        return None


@contextmanager
def kept(registry: Registry, datasets: Path) -> Iterator[Keeper]:
    """Keep the state of the night that the block does, which says how it ends unless it fails."""
    keeper = Keeper(registry, datasets)
    try:
        yield keeper
    except BaseException as error:
        keeper.tell({}, None, [], None)
        keeper.end("failed", _in_words(error))
        raise


def _in_words(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _size(path: Path) -> int:
    """Return the bytes of the files below `path`; of those that go meanwhile, none."""
    return sum(each.lstat().st_size for each in path.rglob("*") if each.is_file())
