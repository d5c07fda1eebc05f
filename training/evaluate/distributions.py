"""Number, cost, sizes and lifespans of files by pattern of name (thesis 6.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import field

PREFIX = 5
"""Bytes of the prefix that stands for names without a period (as `#pico` in Table 6.1)."""

PREFIX_NAMES = 10
"""Least number of distinct names for a prefix pattern."""

ENOUGH = 10
"""Least number of created files for a distribution of lifespans (section 6.2)."""

BLOCK = 8192
"""Bytes of the blocks in the cost (section 6.2)."""

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""Quantiles in a box plot: minimum, 5%, quartiles, 95%, maximum."""

_BOX = pa.list_(pa.float64(), len(QUANTILES))

DISTRIBUTIONS = pa.schema(
    [
        field("name", pa.binary(), "*.suffix, prefix* or a whole name", nullable=False),
        field("count", pa.int64(), "file lives with such a name that were used", nullable=False),
        field("created", pa.int64(), "those with a visible creation", nullable=False),
        field("alive", pa.int64(), "those created without a visible death", nullable=False),
        field("cost", pa.float64(), "count + 0.125 × 8K blocks read or written", nullable=False),
        field("size", _BOX, "QUANTILES of the largest size seen, bytes; null: never seen"),
        field(
            "lifespan",
            _BOX,
            "QUANTILES of the lifespans of the created ones, seconds, or until the end of"
            " observation; null: fewer than 10 were created",
        ),
    ]
)
"""One row per pattern of names, as in Tables 6.1 to 6.3."""


def distributions(files: pa.Table, top: int = 20) -> pa.Table:
    """Return the `top` patterns of names by cost, as a table of `DISTRIBUTIONS`.

    Every regular file counts once, under its first name. The thesis counts accesses of a name. Its
    tables give locks, on which every user makes several operations, a cost equal to their count, so
    an access is the use of a file, not an operation on it.
    """
    files = files.filter(
        pc.and_(pc.fill_null(pc.equal(files["kind"], "file"), False), files["name"].is_valid())
    )
    encoded = pc.dictionary_encode(files["name"]).combine_chunks()
    dictionary = encoded.dictionary.to_pylist()
    shown = patterns(dictionary)
    labels = sorted(set(shown.values()))
    place = {label: index for index, label in enumerate(labels)}
    codes = np.array([place[shown[name]] for name in dictionary], np.int64)
    group = codes[encoded.indices.to_numpy()]
    blocks = (_numbers(files["bytes_read"]) + _numbers(files["bytes_written"])) / BLOCK
    count = np.bincount(group, minlength=len(labels))
    cost = count + 0.125 * np.bincount(group, blocks, len(labels))
    size, lifespan = _numbers(files["max_size"]), _lifespans(files)
    created, alive = files["birth_seen"].to_numpy(), ~files["death_seen"].to_numpy()
    rows = []
    for label in np.argsort(-cost, kind="stable")[:top]:
        member = group == label
        born = lifespan[member & created]
        rows.append(
            {
                "name": labels[label],
                "count": int(count[label]),
                "created": len(born),
                "alive": int((member & created & alive).sum()),
                "cost": float(cost[label]),
                "size": _box(size[member]),
                "lifespan": _box(born) if len(born) >= ENOUGH else None,
            }
        )
    return pa.Table.from_pylist(rows, schema=DISTRIBUTIONS)


def patterns(names: Iterable[bytes]) -> Mapping[bytes, bytes]:
    """Map each of the distinct `names` to its pattern.

    The pattern is `*.suffix` after the last period; without a period, `prefix*` of its first five
    bytes if ten or more such names share them; or else the name itself.
    """
    names = list(names)
    shared = Counter(name[:PREFIX] for name in names if _suffix(name) is None)

    def pattern(name: bytes) -> bytes:
        if (suffix := _suffix(name)) is not None:
            return b"*." + suffix
        prefix = name[:PREFIX]
        return prefix + b"*" if shared[prefix] >= PREFIX_NAMES else name

    return {name: pattern(name) for name in names}


def _suffix(name: bytes) -> bytes | None:
    return name.rpartition(b".")[2] or None if b"." in name else None


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    return np.asarray(pc.cast(column, pa.float64(), safe=False))


def _lifespans(files: pa.Table) -> npt.NDArray[np.float64]:
    microseconds = pc.subtract(
        pc.cast(files["observed_until"], pa.int64()), pc.cast(files["born"], pa.int64())
    )
    return _numbers(microseconds) / 1e6


def _box(values: npt.NDArray[np.float64]) -> Sequence[Any] | None:
    known = values[~np.isnan(values)]
    return [float(value) for value in np.quantile(known, QUANTILES)] if len(known) else None
