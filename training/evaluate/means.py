"""Mean accuracy of several evaluations."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa


def shared_means(results: Iterable[tuple[pa.Table, str]]) -> list[float | None]:
    """Return the mean of `correct` over the predicates common to all evaluations.

    Each evaluation is paired with a kind of model.
    """
    figures = [
        {
            (row["subject"], row["predicate"]): row["correct"]
            for row in result.to_pylist()
            if (row["model"], row["point"]) == (kind, "accurate") and row["correct"] is not None
        }
        for result, kind in results
    ]
    shared = sorted(set.intersection(*map(set, figures)))
    return [float(np.mean([f[k] for k in shared])) if shared else None for f in figures]
