"""The figures of one day: the load, the busiest, and which files were created."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from birthmark.data.common.visible import visible
from birthmark.data.datasets.tables import read_files
from birthmark.data.top.load import Row, Snapshot
from birthmark.data.top.whole import read
from birthmark.predictor import births

SHOWN = 5
"""Rows of each table of the busiest."""

STORED = 1000
"""Number of users and name suffixes stored for the next day's comparison."""

LONGEST_ENDING = 16
NO_ENDING = "no ending"


@dataclass(frozen=True)
class Figures:
    """The figures of a dataset, stored for the next day.

    Attributes:
        dataset: its name.
        since, until: its first and its last operation, ISO 8601, UTC.
        servers: its servers.
        total: operations (``ops``), ``errors``, ``bytes_read``, ``bytes_written``, and latencies
            (``latency_mean``, ``latency_p99``) in microseconds.
        busiest: rows like `total` with a ``name``, by user, client, directory and file.
        users: operations by user.
        births: files created.
        endings: files created by suffix of the name, as ``.o``.
    """

    dataset: str
    since: str
    until: str
    servers: list[str]
    total: dict[str, Any]
    busiest: dict[str, list[dict[str, Any]]]
    users: dict[str, int]
    births: int
    endings: dict[str, int]

    @property
    def seconds(self) -> float:
        """Length of the day, from the first to the last operation."""
        since, until = map(datetime.fromisoformat, (self.since, self.until))
        return max((until - since).total_seconds(), 1e-6)

    def rate(self, name: str) -> float:
        """Return a sum of `total` per second."""
        return float(self.total[name]) / self.seconds

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON objects."""
        return asdict(self)


def measure(dataset: Path) -> Figures:
    """Return the figures of a dataset."""
    load, _ = read([str(dataset)])
    counts = load.whole("ops", STORED)
    created = births(read_files(dataset))
    endings = Counter(map(ending, created["name"].to_pylist()))
    return Figures(
        dataset.name,
        _instant(counts.since),
        _instant(counts.until),
        sorted(set(created["server"].cast("string").to_pylist())),
        _sums(counts.total),
        {key: [_row(row) for row in rows[:SHOWN]] for key, rows in counts.rows.items()},
        _users(counts),
        len(created),
        dict(endings.most_common(STORED)),
    )


def ending(name: bytes | None) -> str:
    """Return the suffix of a name, from its last dot on."""
    stem, dot, last = (name or b"").rpartition(b".")
    if not (stem and dot and last) or len(last) > LONGEST_ENDING:
        return NO_ENDING
    return "." + visible(last.decode("utf-8", "surrogateescape"))


def _users(counts: Snapshot) -> dict[str, int]:
    return {str(row.name): row.ops for row in counts.rows.get("user", []) if row.name is not None}


def _row(row: Row) -> dict[str, Any]:
    name = row.name if row.name is None or isinstance(row.name, int) else visible(row.name)
    return {"name": name, "mostly": row.mostly, **_sums(row)}


def _sums(row: Row) -> dict[str, Any]:
    sums = ("ops", "errors", "bytes_read", "bytes_written", "latency_mean", "latency_p99")
    return {name: getattr(row, name) for name in sums}


def _instant(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).isoformat()
