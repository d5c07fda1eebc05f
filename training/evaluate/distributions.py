"""What files of one kind of name are like: their number, cost, sizes and lifespans (thesis 6.2)."""

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
"""How many different names must share a prefix to be shown by it."""

ENOUGH = 10
"""Created files without which a lifespan's distribution is not shown (section 6.2)."""

BLOCK = 8192
"""Bytes of the blocks that cost is counted in (section 6.2)."""

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
"""What a box plot shows: the least, 5%, the quartiles, 95%, the greatest."""

_BOX = pa.list_(pa.float64(), len(QUANTILES))

DISTRIBUTIONS = pa.schema(
    [
        field("name", pa.binary(), "*.suffix, prefix* or a whole name", nullable=False),
        field("count", pa.int64(), "file lives with such a name that were touched", nullable=False),
        field("created", pa.int64(), "those whose creation was seen", nullable=False),
        field("alive", pa.int64(), "those created whose death was not seen", nullable=False),
        field("cost", pa.float64(), "count + 0.125 × 8K blocks read or written", nullable=False),
        field("size", _BOX, "QUANTILES of the largest size seen, bytes; null: never seen"),
        field(
            "lifespan",
            _BOX,
            "QUANTILES of the seconds that the created ones lived, or where alive were watched;"
            " null: fewer than 10 were created",
        ),
    ]
)
"""One row per pattern of names, as in Tables 6.1 to 6.3."""


def distributions(files: pa.Table, top: int = 20) -> pa.Table:
    """Return the `top` patterns of names by cost, as a table of `DISTRIBUTIONS`.

    Every regular file counts once, under the name it was born with. The thesis counts accesses
    of a name; its tables give locks, which every user of one touches several times, a cost equal
    to their count, so an access there is a file's use, not an operation on it.
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
    """Map each of the different `names` to the pattern that it is shown under.

    That is `*.suffix` after its last period; or where it has none, its first five bytes as
    `prefix*` if ten or more such names share them; or else the name itself.
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
