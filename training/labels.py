"""The rows that count, and what became of them: the truth that models learn and are held to."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc


def births(lives: pa.Table) -> pa.Table:
    """Return the rows of a files or names table that models may learn from and be tested on.

    They are regular files whose creation the trace shows: what is already old cannot be
    predicted at its birth (thesis 6.3.3).
    """
    return lives.filter(
        pc.and_(lives["birth_seen"], pc.fill_null(pc.equal(lives["kind"], "file"), False))
    )


def tally(truth: pa.BooleanArray) -> dict[str, int]:
    """Return the number of rows with a `known` answer, with the answer `true`, and `unknown`."""
    known = len(truth) - truth.null_count
    return {"known": known, "true": truth.true_count, "unknown": truth.null_count}


def majority(tally: Mapping[str, int]) -> bool:
    """Return the answer that the training data suggests to one who knows nothing else.

    YES where half of the known answers or more are (Table 6.5); NO where none is known.
    """
    return tally["known"] > 0 and 2 * tally["true"] >= tally["known"]
