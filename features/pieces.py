"""A file name in three pieces, for models that take one value per attribute."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

PIECES = ("first", "middle", "last")
"""The names of the pieces."""

_PATTERN = r"(?s)^(?P<first>[^.]*)(?:(?:\.(?P<middle>.*))?\.(?P<last>[^.]*))?$"


def name_pieces(names: pa.BinaryArray) -> dict[str, pa.BinaryArray]:
    """Split each name at its first and last period.

    ``first`` is what stands before the first period, ``last`` what stands after the last (null
    in a name without a period), ``middle`` what stands between them (null in a name with fewer
    than two). A piece may be empty: ``.cshrc`` has the first piece ``b""``.
    """
    pieces = pc.extract_regex(names, pattern=_PATTERN)
    periods = pc.count_substring(names, ".")
    null = pa.scalar(None, pa.binary())
    needed = {"first": 0, "middle": 2, "last": 1}
    return {
        piece: pc.if_else(pc.greater_equal(periods, n), pc.struct_field(pieces, piece), null)
        for piece, n in needed.items()
    }
