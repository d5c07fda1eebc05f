"""The design effect: how dependent the rows of a block of time are."""

from __future__ import annotations

import numpy as np

from birthmark.data.common.arrays import Floats


def design_effect(hits: Floats, rows: Floats) -> float:
    """Return the design effect: the variance of a share over that of independent rows, at least 1.

    `hits` and `rows` are counts per block. The variance of their ratio is the linearised one of
    cluster sampling (L. Kish, *Survey Sampling*, 1965, section 6.3).
    """
    n, count = rows.sum(), len(rows)
    share = hits.sum() / n if n else 0.0
    if count < 2 or not 0 < share < 1:
        return 1.0
    between = count / (count - 1) * np.sum((hits - share * rows) ** 2) / n**2
    return max(1.0, float(between / (share * (1 - share) / n)))
