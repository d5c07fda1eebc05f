"""How many steps a lookup in an image takes, and may take (``docs/image-format.md``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

STEPS = 2**14
"""How many steps an image declares at most: five times what models of 25 predicates take."""

COMPONENTS = 255 + 4
"""The texts that rules find for a name of 255 bytes, at most: its pieces between periods, prefix,
whole and any."""

ABREAST = 8
"""So many trees of a forest are walked at the same time."""

Ints = npt.NDArray[np.int64]


def search(counts: npt.ArrayLike) -> Ints:
    """Return what it takes to find a number among so many that ascend."""
    return np.asarray(np.frexp(np.asarray(counts, dtype=np.float64))[1] + 1, dtype=np.int64)


def leaf(outputs: int) -> int:
    """Return what it takes to find a leaf's scores, and to add up eight at a time."""
    return 1 + -(-outputs // 8)
