"""Births of files of a dataset, and removals of their last names, from its table of files.

A removed file leaves memory; a file gets its hints at its birth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.arrays import Ints
from birthmark.data.datasets import ingests
from birthmark.data.datasets.tables import server_of
from birthmark.data.schema import FILES


@dataclass(frozen=True)
class Deaths:
    """Files in the order in which they died.

    Attributes:
        times: when the removal of the last name was answered, μs since the epoch.
        files: their handles.
    """

    times: Ints
    files: pa.Array

    @classmethod
    def of(cls, dataset: Path, server: str) -> Self:
        """Return the deaths of a server's files in a dataset; none without that table."""
        table = lives(dataset, server, "died", ["fh"])
        return cls(micros(table["died"]), pa.array(table["fh"].to_pylist(), pa.binary()))

    def at(self, times: Ints) -> tuple[Ints, pa.Array]:
        """Return which of some instants have a death, and those files."""
        which, rows = _met(self.times, times)
        return which, self.files.take(pa.array(rows))


@dataclass(frozen=True)
class Births:
    """Files in the order of their births.

    Attributes:
        times: when the create was answered, μs since the epoch.
        hints: the hints of each, as bits.
    """

    times: Ints
    hints: Ints

    def at(self, times: Ints) -> Ints:
        """Return the hints of files made at some instants; 0: no hint, or no file."""
        found = np.zeros(len(times), np.int64)
        which, rows = _met(self.times, times)
        found[which] = self.hints[rows]
        return found


NO_BIRTHS = Births(np.empty(0, np.int64), np.empty(0, np.int64))


def lives(dataset: Path, server: str, by: str, columns: Sequence[str]) -> pa.Table:
    """Return columns of a server's files with a time, sorted by it."""
    paths = [
        path
        for path in ingests.table_files(dataset, "files")
        if server_of(path.parent.parent.name) == server
    ]
    wanted = [by, *columns]
    schema = pa.schema([FILES.field(name) for name in wanted])
    tables = [
        pq.read_table(path, columns=wanted, filters=pc.field(by).is_valid()) for path in paths
    ]
    table = pa.concat_tables(own.cast(schema) for own in tables) if tables else schema.empty_table()
    return table.sort_by(by).combine_chunks()


def micros(times: pa.ChunkedArray) -> Any:
    """Return times in microseconds since the epoch."""
    return times.cast(pa.int64()).to_numpy()


def _met(times: Ints, asked: Ints) -> tuple[Ints, Ints]:
    """Return which instants are among sorted times, and at which positions.

    Each of several equal times is matched once.
    """
    places = np.searchsorted(times, asked) + _before(asked)
    which = np.flatnonzero(places < len(times))
    which = which[times[places[which]] == asked[which]]
    return which, places[which]


def _before(values: Ints) -> Ints:
    """Return the number of equal values before each."""
    order = np.argsort(values, kind="stable")
    in_order = values[order]
    found = np.empty(len(values), np.int64)
    found[order] = np.arange(len(values)) - np.searchsorted(in_order, in_order)
    return found
