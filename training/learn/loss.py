"""Lives that lost messages may have affected: counts, and exclusion from training and tests."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.plurals import counted
from birthmark.predictor import births


@dataclass(frozen=True)
class Touched:
    """Numbers of births that loss may have affected, and whether they were left out.

    Births with an unknown ``loss_nearby`` (null) do not count.
    """

    files: int
    names: int
    left_out: bool

    def to_json(self) -> dict[str, int | bool]:
        """Return the counts as a JSON object."""
        return asdict(self)

    def in_words(self) -> str:
        """Return the counts in words."""
        done = "left out" if self.left_out else "not left out"
        return f"{counted(self.files, 'files')} and {counted(self.names, 'names')}, {done}"


NONE_TOUCHED = Touched(0, 0, left_out=False)


def without_loss(
    files: pa.Table, names: pa.Table, leave_out: bool
) -> tuple[pa.Table, pa.Table, Touched]:
    """Count the births that loss may have affected; return the tables, without them if `leave_out`.

    `files` and `names` are tables of `data.schema`.
    """
    unaffected = _untouched(files), _untouched(names)
    files_touched, names_touched = (
        len(births(table)) - len(births(rest))
        for table, rest in zip((files, names), unaffected, strict=True)
    )
    counts = Touched(files_touched, names_touched, leave_out)
    return (*(unaffected if leave_out else (files, names)), counts)


def _untouched(lives: pa.Table) -> pa.Table:
    return lives.filter(pc.invert(pc.fill_null(lives["loss_nearby"], False)))
