"""How many steps a lookup in an image takes, and may take (``docs/image-format.md``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from birthmark.data.common.arrays import Ints
from birthmark_native import BM_ABREAST, BM_COMPONENTS_MAX, BM_STEPS_MAX

STEPS = BM_STEPS_MAX
"""How many steps an image declares at most: five times what models of 25 predicates take."""

COMPONENTS = BM_COMPONENTS_MAX
"""The texts that rules find for a name of `BM_STEPS_NAME` bytes, at most: its pieces between
periods, prefix, whole and any."""

ABREAST = BM_ABREAST
"""So many trees of a forest are walked at the same time."""


def search(counts: npt.ArrayLike) -> Ints:
    """Return what it takes to find a number among so many that ascend."""
    return np.asarray(np.frexp(np.asarray(counts, dtype=np.float64))[1] + 1, dtype=np.int64)


def leaf(outputs: int) -> int:
    """Return what it takes to find a leaf's scores, and to add up eight at a time."""
    return 1 + -(-outputs // 8)
