"""When files of a dataset lost their last names: what was in memory of them is gone then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.arrays import Ints
from birthmark.data.datasets import ingests
from birthmark.data.datasets.tables import server_of


@dataclass(frozen=True)
class Deaths:
    """Files in the order in which they died.

    Attributes:
        times: when it was answered that took the last name away, μs since the epoch.
        files: their handles.
    """

    times: Ints
    files: pa.Array

    @classmethod
    def of(cls, dataset: Path, server: str) -> Self:
        """Return the deaths that a dataset's table of files has of a server; none without one."""
        paths = [
            path
            for path in ingests.table_files(dataset, "files")
            if server_of(path.parent.parent.name) == server
        ]
        told = [
            pq.read_table(path, columns=["fh", "died"], filters=pc.field("death_seen"))
            for path in paths
        ]
        table = pa.concat_tables(told) if told else _NONE
        table = table.filter(pc.is_valid(table["died"])).sort_by("died").combine_chunks()
        times = table["died"].cast(pa.int64()).to_numpy()
        return cls(times, pa.array(table["fh"].to_pylist(), pa.binary()))

    def at(self, times: Ints) -> tuple[Ints, pa.Array]:
        """Return which of some instants a file died at, each one once, and those files."""
        place = np.searchsorted(self.times, times) + _again(times)
        near = np.minimum(place, max(len(self.times) - 1, 0))
        there = np.flatnonzero(
            self.times[near] == times if len(self.times) else np.zeros(len(times), bool)
        )
        return there, self.files.take(pa.array(near[there]))


_NONE = pa.table({"fh": pa.array([], pa.binary()), "died": pa.array([], pa.timestamp("us", "UTC"))})


def _again(times: Ints) -> Ints:
    """Return how many before each in a row are the same."""
    order = np.argsort(times, kind="stable")
    sorted_ = times[order]
    first = np.searchsorted(sorted_, sorted_, "left")
    found = np.empty(len(times), np.int64)
    found[order] = np.arange(len(times)) - first
    return found
