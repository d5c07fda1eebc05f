"""How many steps a lookup in an image takes, and may take (``docs/image-format.md``)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

STEPS = 2**16
"""How many steps an image declares at most."""

_LONGEST_NAME = 255
_BUCKET = 16

FIND = 1 + _BUCKET
"""To find a text in a dictionary: its bucket, and the entries there."""

RULES = (_LONGEST_NAME + 4) * (FIND + 1)
"""To find all components of a name (pieces, whole, prefix and any), each with its mask."""

Ints = npt.NDArray[np.int64]


def search(counts: npt.ArrayLike) -> Ints:
    """Return what it takes to find a number among so many that ascend."""
    return np.asarray(np.frexp(np.asarray(counts, dtype=np.float64))[1] + 1, dtype=np.int64)


def leaf(outputs: int) -> int:
    """Return what it takes to find a leaf's scores, and to add up eight at a time."""
    return 1 + -(-outputs // 8)
