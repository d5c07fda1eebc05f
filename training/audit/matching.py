"""Joining of logged predictions to the lives of files.

A request has no file handle. It has a name, and perhaps a user, a group, a client and a directory.
A row can match a life that agrees in all members that both have, and whose birth is within a
tolerance of the row's time. Matching rows and lives form clusters, often one of each. In a cluster
with as many rows as lives, they are joined in the order of time, because a clock offset keeps the
order. Otherwise the rows count as ambiguous. No row joins two lives, and no life two rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from birthmark.data.common.arrays import Bools, Ints
from birthmark.data.prediction_log import Joining, moments

_LATE = np.iinfo(np.int64).max

EDGES = 20_000_000
"""Greatest number of pairs of a row and a life."""


@dataclass(frozen=True)
class Join:
    """The joined pairs, as indices of rows and lives, and counts of the other rows."""

    rows: Ints
    lives: Ints
    ambiguous: int
    unmatched: int

    @property
    def asked(self) -> int:
        """The number of all rows."""
        return len(self.rows) + self.ambiguous + self.unmatched


def join(rows: pa.Table, lives: pa.Table, how: Joining) -> Join:
    """Join rows of ``data.prediction_log.PREDICTIONS`` to births of a files or names table.

    Raises ``ValueError`` for more than ``EDGES`` candidate pairs.
    """
    asked, born = _times(moments(rows)), _times(lives["born"])
    row, life = _pairs(_codes(rows["name"], lives["name"]), asked, born, round(how.tolerance * 1e6))
    for column in how.matched:
        if column in lives.column_names:
            agree = _agree(rows[column], lives[column], row, life)
            row, life = row[agree], life[agree]
    own, joined = _clusters(row, life, asked, born)
    candidates = len(np.unique(row))
    return Join(own, joined, candidates - len(own), len(rows) - candidates)


def _times(times: pa.ChunkedArray) -> Ints:
    return np.asarray(times.cast(pa.int64()).to_numpy(), dtype=np.int64)


def _codes(one: pa.ChunkedArray, other: pa.ChunkedArray) -> tuple[Ints, Ints]:
    """Return integer codes of values; -1 is null."""
    kind = pa.binary() if pa.types.is_binary(one.type) else pa.utf8()
    both = pa.chunked_array([*one.cast(kind).chunks, *other.cast(kind).chunks], type=kind)
    indices = both.combine_chunks().dictionary_encode().indices
    codes = np.asarray(pc.fill_null(indices, -1).to_numpy(), dtype=np.int64)
    return codes[: len(one)], codes[len(one) :]


def _pairs(names: tuple[Ints, Ints], asked: Ints, born: Ints, tolerance: int) -> tuple[Ints, Ints]:
    """Return the indices of rows and lives with the same name and near times."""
    of_rows, of_lives = names
    order = np.lexsort((born, of_lives))
    # one key for name and time, for one search
    first = int(min(asked.min(initial=_LATE), born.min(initial=_LATE)))
    span = int(max(asked.max(initial=first), born.max(initial=first))) - first + 2 * tolerance + 1
    keys = of_lives[order] * span + (born[order] - first + tolerance)
    targets = of_rows * span + (asked - first + tolerance)
    begin = np.searchsorted(keys, targets - tolerance, "left")
    end = np.searchsorted(keys, targets + tolerance, "right")
    counts = np.where(of_rows >= 0, end - begin, 0)
    if counts.sum() > EDGES:
        raise ValueError(
            f"{counts.sum():,} candidate pairs of a prediction and a file: expected at most"
            f" {EDGES:,}; a smaller tolerance gives fewer"
        )
    row = np.repeat(np.arange(len(asked)), counts)
    within = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    return row, order[np.repeat(begin, counts) + within]


def _agree(of_rows: pa.ChunkedArray, of_lives: pa.ChunkedArray, row: Ints, life: Ints) -> Bools:
    one, other = _codes(of_rows, of_lives)
    both_known = (one[row] >= 0) & (other[life] >= 0)
    return np.asarray(~both_known | (one[row] == other[life]))


def _clusters(row: Ints, life: Ints, asked: Ints, born: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of clusters with as many rows as lives, in the order of time."""
    rows, r = np.unique(row, return_inverse=True)
    lives, v = np.unique(life, return_inverse=True)
    size = len(rows) + len(lives)
    edges = coo_array((np.ones(len(r), bool), (r, v + len(rows))), (size, size))
    count, cluster = connected_components(edges, directed=False)
    of_row, of_life = cluster[: len(rows)], cluster[len(rows) :]
    even = np.bincount(of_row, minlength=count) == np.bincount(of_life, minlength=count)
    by_row, by_life = np.lexsort((asked[rows], of_row)), np.lexsort((born[lives], of_life))
    by_row, by_life = by_row[even[of_row[by_row]]], by_life[even[of_life[by_life]]]
    return _possible(rows[by_row], lives[by_life], of_row[by_row], row, life)


def _possible(rows: Ints, lives: Ints, cluster: Ints, row: Ints, life: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of clusters in which every pair is a candidate."""
    span = int(life.max(initial=0)) + 1
    fits = np.isin(rows * span + lives, row * span + life)
    bad = np.unique(cluster[~fits])
    is_good = ~np.isin(cluster, bad)
    return rows[is_good], lives[is_good]
