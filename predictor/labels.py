"""The rows that models learn from, and counts of their labels."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def births(lives: pa.Table) -> pa.Table:
    """Return the rows of a files or names table that models learn from.

    They are regular files whose creation the trace shows: predictions are made at birth, and files
    that were old when the trace began would bias them (thesis section 6.3.3).
    """
    return lives.filter(pc.and_(lives["birth_seen"], pc.equal(lives["kind"], "file")))


def tally(labels: pa.BooleanArray) -> dict[str, int]:
    """Return how many labels are ``known``, ``true`` (of the known) and ``unknown``."""
    unknown = labels.null_count
    return {"known": len(labels) - unknown, "true": labels.true_count, "unknown": unknown}
