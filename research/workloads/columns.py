"""Arrow arrays for the columns of the operations table, from numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Ints
from birthmark.data.schema import OPERATIONS, TIME, WORD
from birthmark.research.workloads.rows import OPS


def no_values(count: int) -> pa.RecordBatch:
    """Return rows of the operations table in which everything is null."""
    nullable = pa.schema([each.with_nullable(True) for each in OPERATIONS])
    columns = [pa.nulls(count, each.type) for each in nullable]
    return pa.RecordBatch.from_arrays(columns, schema=nullable)


def any_of(op: Any, *codes: int) -> Bools:
    """Return where `op` is one of the codes."""
    wanted = np.zeros(len(OPS), bool)
    wanted[list(codes)] = True
    found: Bools = wanted[op]
    return found


def numbers(values: Any, where: Bools, kind: pa.DataType) -> pa.Array:
    """Return integers of a type, null outside `where`."""
    return pa.array(values.astype(str(kind)), kind, mask=~where)


def times(values: Ints, where: Bools, kind: pa.DataType = TIME) -> pa.Array:
    """Return times from microseconds, null outside `where`."""
    return pa.array(values, pa.int64(), mask=~where).cast(kind)


def words(codes: Any, words: pa.Array) -> pa.Array:
    """Return words by their codes."""
    return pa.DictionaryArray.from_arrays(pa.array(codes), words).cast(WORD)


def verifiers(calls: Ints, where: Bools) -> pa.Array:
    """Return eight bytes for each exclusive create: clients use their clock."""
    values = [b"%08x" % (call & 0xFFFF_FFFF) for call in calls[where].tolist()]
    places = np.cumsum(where) - 1
    return pa.array(values, pa.binary()).take(pa.array(places, mask=~where))
