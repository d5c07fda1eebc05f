"""Predicates as Python functions: a table of lives in, an answer per life out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from birthmark.data.common.references import imported
from birthmark.predictor.predicates.predicate import Subject
from birthmark.predictor.predicates.rules import GOES_ON

GROUP = "birthmark.predicates"
"""The entry point group for packages that provide functions."""

Answering = Callable[[pa.Table], Any]
"""Takes a table of lives, and returns for each row true, false or null."""


@dataclass(frozen=True)
class Function:
    """The rule of a predicate that a function of a table of lives decides.

    It returns an Arrow array, a Series, an array or a list of booleans, null (None) for unknown.
    For lives that have not ended (``predictor.predicates.rules.GOES_ON``) the answer is unknown.
    """

    function: Answering

    def __call__(self, table: pa.Table, subject: Subject) -> pa.Array:
        """Return the answers; raise ``ValueError`` unless they are one boolean per life."""
        answers = _booleans(self.function(table), len(table), repr(self.function))
        if GOES_ON not in table.column_names:
            return answers
        return pc.if_else(table[GOES_ON], pa.scalar(None, pa.bool_()), answers)


@dataclass(frozen=True)
class NamedFunction:
    """The same for a function by reference (``data.common.references``).

    It is imported on first use; declaring it runs no code.
    """

    reference: str

    def resolve(self) -> Function:
        """Return the function; raise ``ValueError`` if there is none."""
        function = imported(self.reference, GROUP)
        if not callable(function):
            raise ValueError(f"{self.reference!r}: expected a function, found {function!r}")
        return Function(function)

    def __call__(self, table: pa.Table, subject: Subject) -> pa.Array:
        """Return the answers, as ``Function`` does."""
        return self.resolve()(table, subject)


def _booleans(answers: Any, rows: int, who: str) -> pa.Array:
    try:
        column = answers if isinstance(answers, (pa.Array, pa.ChunkedArray)) else pa.array(answers)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"{who}: expected an answer for each life: {error}") from error
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pt.is_null(column.type):
        column = column.cast(pa.bool_())
    if not pt.is_boolean(column.type) or len(column) != rows:
        kind = f"{len(column):,} of {column.type}"
        raise ValueError(f"{who}: expected {rows:,} booleans, one for each life; found {kind}")
    return column
