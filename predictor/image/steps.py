"""The steps of a lookup in an image, and their limit (``docs/image-format.md``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from birthmark.data.common.arrays import Ints
from birthmark_native import BM_ABREAST, BM_COMPONENTS_MAX, BM_STEPS_MAX

STEPS = BM_STEPS_MAX
"""Greatest number of steps of an image: five times those of models of 25 predicates."""

COMPONENTS = BM_COMPONENTS_MAX
"""Greatest number of texts that rules look up for a name of `BM_STEPS_NAME` bytes: its pieces
between periods, prefix, whole and any."""

ABREAST = BM_ABREAST
"""Number of trees of a forest walked at the same time."""


def search(counts: npt.ArrayLike) -> Ints:
    """Return the steps of a binary search among ``counts`` ascending numbers."""
    return np.asarray(np.frexp(np.asarray(counts, dtype=np.float64))[1] + 1, dtype=np.int64)


def leaf(outputs: int) -> int:
    """Return the steps to find a leaf's scores, and to add them up, eight at a time."""
    return 1 + -(-outputs // 8)
