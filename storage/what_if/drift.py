"""Whether a server was the same in both halves of a capture: calls that came alone tell.

Where it was not, no prediction of the second half from the first can be right.
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
    """How much longer calls that came alone took than such calls of the same size before.

    Attributes:
        all: as a part of the time before: 0.1 is a tenth longer; None: too few came alone to tell.
        kinds: the same by kind of call.
    """

    all: float | None = None
    kinds: Mapping[str, float] = field(default_factory=dict)


def drift(first: Sample, second: Sample) -> Drift:
    """Return how much longer calls took in a second half.

    Reads do not count: what they find in memory changes, and the model knows of that.
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
    told = np.minimum(calls, calls_before) >= LEAST_CALLS
    if not told.any():
        return Drift()

    def longer(rows: Bools) -> float:
        weight = calls * rows
        return float((weight * took).sum() / (weight * took_before).sum() - 1)

    kinds = {CLASSES[own]: longer(told & (kind == own)) for own in np.unique(kind[told])}
    return Drift(longer(told), kinds)


_ALIKE = ["kind", "stable", "size"]


def _times(of: Sample) -> pa.Table:
    """Return how many calls of each kind and size came alone, and the mean of their latencies.

    Of commits the size is what was to be made stable. Sizes are alike up to a factor of two.
    """
    alone = of.take(of.alone & ~of.of("read"))
    size = np.where(alone.bytes > 0, alone.bytes, np.nan_to_num(alone.dirty))
    columns = {"kind": alone.kind, "stable": alone.stable, "latency": alone.latency}
    calls = pa.table(columns | {"size": np.ceil(np.log2(1 + size)).astype(np.int64)})
    return calls.group_by(_ALIKE).aggregate([("latency", "count"), ("latency", "mean")])
