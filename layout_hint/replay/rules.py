"""Users' placement policies: a Python function decides which creates are hot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from birthmark.data.common.references import imported
from birthmark.layout_hint.replay import hint_sources

GROUP = "birthmark.policies"
"""The group of entry points for policies of packages."""

Hinting = Callable[[pa.Table], Any]
"""Takes the table of a day's creates (``LayoutTrace.creates``), and returns which are hot."""


@dataclass(frozen=True)
class Rule:
    """A policy that a function decides.

    The function returns an Arrow array, a Series, an array or a list of booleans, one for each
    create; null (None) is not hot.
    """

    name: str
    function: Hinting

    @classmethod
    def read(cls, reference: str) -> Rule:
        """Return the rule named by ``package.module:function``, or an entry point of ``GROUP``.

        Raises ``ValueError`` if there is none, or it is no function.
        """
        function = imported(reference, GROUP)
        if not callable(function):
            raise ValueError(f"{reference!r}: expected a function, found {function!r}")
        return cls(reference, function)

    def verdicts(self, creates: pa.Table) -> pa.Array:
        """Return the hints; raise ``ValueError`` unless they are one boolean for each create."""
        found = self.function(creates)
        try:
            hot = found if isinstance(found, (pa.Array, pa.ChunkedArray)) else pa.array(found)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise ValueError(f"{self.name}: expected a boolean for each create: {error}") from error
        if not (pt.is_boolean(hot.type) or pt.is_null(hot.type)) or len(hot) != len(creates):
            raise ValueError(
                f"{self.name}: expected {len(creates):,} booleans, one for each create;"
                f" found {len(hot):,} of {hot.type}"
            )
        filled = hot.cast(pa.bool_()).fill_null(False)
        return hint_sources.of_flags(filled.to_numpy(zero_copy_only=False))
