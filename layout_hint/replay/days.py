"""The days that a comparison replays: builds of ``birthmark research replay``, or made from traces.

The thesis takes the hours from 10:00 to 16:00 of each day (section 7.1).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from joblib import Parallel, delayed

from birthmark.data.datasets import row_groups
from birthmark.data.datasets.ingests import table_files
from birthmark.data.generated import Mark
from birthmark.data.traces.reader import open_trace
from birthmark.layout_hint.rewrite import build
from birthmark.layout_hint.settings import Options

BUILD, MANIFEST, OPERATIONS = "build.json", "manifest.parquet", "operations.parquet"
_MICROS = 1_000_000
_DAY = 86_400 * _MICROS
_EPOCH = date(1970, 1, 1)
ROWS = 1 << 18
"""Rows of one column read at a time: 2 MB."""


@dataclass(frozen=True)
class Day:
    """A build of ``birthmark research replay`` for one day."""

    name: str  # YYYY-MM-DD, or its directory's name
    path: Path
    seconds: float  # from its first call to its last
    generated: tuple[Mark, ...]  # by which workloads, if it is not real

    @staticmethod
    def of(path: Path, name: str | None = None) -> Day:
        """Return a build as a day.

        Raises:
            ValueError: it is no build.
        """
        try:
            build: dict[str, Any] = json.loads((path / BUILD).read_bytes())
            first, last = build["period"]
            marks = tuple(build["generated"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path}: expected a directory that research replay build made: {error}"
            ) from error
        for part in (MANIFEST, OPERATIONS):
            if not (path / part).is_file():
                raise FileNotFoundError(f"{path / part}: no such file: expected that of a build")
        return Day(name or path.resolve().name, path, (last - first) / _MICROS, marks)


_DEFAULTS = Options()


def _minutes(text: str) -> int:
    match = re.fullmatch(r"([0-9]{2}):([0-9]{2})", text)
    found = int(match[1]) * 60 + int(match[2]) if match and int(match[2]) < 60 else -1
    if not 0 <= found <= 24 * 60:
        raise ValueError(f"{text!r} is no time of a day: expected 00:00 to 24:00, as in 10:00")
    return found


@dataclass(frozen=True)
class Hours:
    """The replayed part of each day, in minutes of the day, UTC."""

    first: int = _minutes(_DEFAULTS.first)
    last: int = _minutes(_DEFAULTS.last)

    @staticmethod
    def read(first: str, last: str) -> Hours:
        """Return the hours from one time of the day to another, such as 10:00 and 16:00.

        Raises:
            ValueError: one is no time of day, or they are not in order.
        """
        hours = Hours(_minutes(first), _minutes(last))
        if hours.first >= hours.last:
            raise ValueError(f"expected hours that end after they begin, got {first} to {last}")
        return hours

    def of(self, day: date) -> tuple[int, int]:
        """Return the bounds of a day's hours in µs since the epoch."""
        midnight = (day - _EPOCH).days * _DAY
        minute = 60 * _MICROS
        return midnight + self.first * minute, midnight + self.last * minute

    def __str__(self) -> str:
        return " to ".join(f"{m // 60:02}:{m % 60:02}" for m in (self.first, self.last))


def read_dates(text: str) -> list[date]:
    """Return the days of a list with commas of YYYY-MM-DD, or of two with ``..`` between.

    Raises:
        ValueError: there is another form.
    """
    found: list[date] = []
    for part in text.split(","):
        try:
            first, _, last = part.partition("..")
            since, until = date.fromisoformat(first), date.fromisoformat(last or first)
        except ValueError:
            raise ValueError(
                f"{part!r} is no day: expected YYYY-MM-DD, or two such with .. between them"
            ) from None
        if since > until:
            raise ValueError(f"{part!r}: expected a first day before the last")
        found += [since + timedelta(days=n) for n in range((until - since).days + 1)]
    return found


def is_build(path: Path) -> bool:
    """Return whether a path is a directory made by ``birthmark research replay build``."""
    return (path / BUILD).is_file()


def make_days(
    traces: Sequence[Path],
    into: Path,
    hours: Hours,
    dates: Sequence[date] | None = None,
    jobs: int = _DEFAULTS.jobs,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Day]:
    """Build a sub-snapshot of each day of traces, or of ``dates``, in ``into``.

    Builds of the same traces and hours in ``into`` are reused. ``progress`` is called with the
    number of finished builds, and of all.

    Raises:
        OSError: a trace cannot be read, or ``into`` cannot be written.
        ValueError: a file is no trace, or there are no calls in those hours.
    """
    wanted = list(dates) if dates is not None else found_dates(traces, hours)
    into.mkdir(parents=True, exist_ok=True)
    progress(0, len(wanted))
    work = (delayed(_made)([str(t) for t in traces], into, hours.of(d), d) for d in wanted)
    made = Parallel(n_jobs=min(jobs, max(1, len(wanted))), return_as="generator")(work)
    days = []
    for day in made:
        days.append(day)
        progress(len(days), len(wanted))
    return days


def _made(traces: list[str], into: Path, bounds: tuple[int, int], day: date) -> Day:
    path = into / day.isoformat()
    if not _holds(path, traces, bounds):
        build(traces, path, *bounds)
    return Day.of(path, day.isoformat())


def _holds(path: Path, traces: list[str], bounds: tuple[int, int]) -> bool:
    """Return whether the same build is there already."""
    if not is_build(path):
        return False
    build = json.loads((path / BUILD).read_bytes())
    if (build["traces"], build["section"]) != (traces, list(bounds)):
        raise ValueError(
            f"{path}: expected a build of {', '.join(traces)} in these hours, found one of "
            f"{', '.join(build['traces'])} or of others; remove it, or give another directory"
        )
    return True


def found_dates(traces: Sequence[Path], hours: Hours) -> list[date]:
    """Return the days with calls in those hours.

    Raises:
        ValueError: there is none.
    """
    days: set[int] = set()
    first, last = None, None
    for times in _times(traces):
        if len(times) == 0:
            continue
        own = pc.min_max(times)
        first = min(first or own["min"].as_py(), own["min"].as_py())
        last = max(last or 0, own["max"].as_py())
        minutes = pc.divide(
            pc.subtract(times, pc.multiply(pc.divide(times, _DAY), _DAY)), 60 * _MICROS
        )
        inside = pc.and_(pc.greater_equal(minutes, hours.first), pc.less(minutes, hours.last))
        days |= set(pc.unique(pc.divide(times.filter(inside), _DAY)).to_pylist())
    if not days:
        raise ValueError(f"{traces[0]}: no calls from {hours} UTC: {_period(first, last)}")
    return [_EPOCH + timedelta(days=number) for number in sorted(days)]


def _period(first: int | None, last: int | None) -> str:
    if first is None or last is None:
        return "there are none at all"
    period = (datetime.fromtimestamp(t / 1e6, UTC).isoformat(" ", "minutes") for t in (first, last))
    return f"they are from {' to '.join(period)} (see --from and --to)"


def _times(traces: Sequence[Path]) -> Iterator[pa.Array]:
    """Yield the times of calls, µs, batch by batch."""
    for trace in traces:
        if trace.is_dir():
            for part in table_files(trace, "operations"):
                yield from _column(part)
        elif open_trace(trace).format == "operations":
            yield from _column(trace)
        else:
            yield from (batch["time"].cast(pa.int64()) for batch in open_trace(trace))


def _column(path: Path) -> Iterator[pa.Array]:
    for batch in row_groups.batches(pq.ParquetFile(path), ROWS, ["time"]):
        yield batch["time"].cast(pa.int64())
