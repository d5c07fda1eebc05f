"""Whether a server was the same in both halves of a capture, by calls that came alone.

If it was not, no prediction of the second half from the first can be right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.storage.what_if.columns import CLASSES
from birthmark.storage.what_if.sample import Sample
from birthmark.storage.what_if.service import LEAST_CALLS


@dataclass(frozen=True)
class Drift:
    """The slowdown of calls that came alone, against calls of the same size before.

    Attributes:
        all: relative: 0.1 is a tenth longer; None: too few came alone.
        kinds: the same by kind of call.
    """

    all: float | None = None
    kinds: Mapping[str, float] = field(default_factory=dict)


def drift(first: Sample, second: Sample) -> Drift:
    """Return the slowdown of calls in a second half.

    Reads do not count: the contents of memory change, and the model accounts for that.
    """
    before, after = _times(first), _times(second)
    both = before.join(after, _ALIKE, join_type="inner", left_suffix="_before")
    kind, calls, took, calls_before, took_before = (
        both[name].to_numpy()
        for name in (
            "kind",
            "latency_count",
            "latency_mean",
            "latency_count_before",
            "latency_mean_before",
        )
    )
    enough = np.minimum(calls, calls_before) >= LEAST_CALLS
    if not enough.any():
        return Drift()

    def longer(rows: Bools) -> float:
        weight = calls * rows
        return float((weight * took).sum() / (weight * took_before).sum() - 1)

    kinds = {CLASSES[own]: longer(enough & (kind == own)) for own in np.unique(kind[enough])}
    return Drift(longer(enough), kinds)


_ALIKE = ["kind", "stable", "size"]


def _times(of: Sample) -> pa.Table:
    """Return counts and mean latencies of calls that came alone, by kind and size.

    A commit's size is the number of bytes to make stable. Sizes are alike up to a factor of two.
    """
    alone = of.take(of.alone & ~of.of("read"))
    size = np.where(alone.bytes > 0, alone.bytes, np.nan_to_num(alone.dirty))
    columns = {"kind": alone.kind, "stable": alone.stable, "latency": alone.latency}
    calls = pa.table(columns | {"size": np.ceil(np.log2(1 + size)).astype(np.int64)})
    return calls.group_by(_ALIKE).aggregate([("latency", "count"), ("latency", "mean")])
