"""The thresholds of all predicates, for all that may be told, moved by what comes to be known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Floats
from birthmark.features.told import Told
from birthmark.predictor.answers.operating_points import NEVER
from birthmark.predictor.control.controller import EDGES, Controller
from birthmark.predictor.control.settings import ControlSettings

Row = tuple[str, Told]
"""A predicate's key, and what is told (``features.told``)."""

_SNAPSHOT = b"birthmark.control"
_VERSION = 1
_COUNTS = pa.list_(pa.float64())
_SCHEMA = pa.schema(
    [
        ("predicate", pa.utf8()),
        ("told", pa.utf8()),
        ("static", pa.float64()),
        ("threshold", pa.float64()),
        ("outcomes", pa.int64()),
        ("false_positives", pa.int64()),
        ("credit", pa.float64()),
        ("mass", pa.float64()),
        ("false", _COUNTS),
        ("true", _COUNTS),
    ]
)


class Control:
    """A ``Controller`` for each predicate and what may be told.

    ``static`` has the calibrated threshold of each (``OperatingPoints.bounded``; None abstains),
    ``version`` names the model that they are of: scores of another mean something else.
    """

    def __init__(
        self,
        static: Mapping[Row, float | None],
        settings: ControlSettings | None = None,
        version: str = "",
    ) -> None:
        self.settings, self.version = settings or ControlSettings(), version
        self.controllers = {row: Controller(own, self.settings) for row, own in static.items()}

    def thresholds(self) -> dict[Row, float | None]:
        """Return the thresholds now in force; None is never a yes."""
        return {row: controller.threshold for row, controller in self.controllers.items()}

    def observe(
        self, predicate: str, told: Told, scores: Floats, in_force: Floats, truths: Bools
    ) -> None:
        """Count outcomes of one predicate that have come to be known: see ``Controller.observe``.

        ``in_force`` has the threshold of the time of each answer; where there was none it is null
        (NaN). ``KeyError`` where the control has no such row.
        """
        never = np.where(np.isnan(in_force), NEVER, in_force)
        self.controllers[predicate, told].observe(scores, never, truths)

    def to_table(self) -> pa.Table:
        """Return all that it knows as a table, a row for each."""
        rows = [
            {"predicate": predicate, "told": told, **controller.state()}
            for (predicate, told), controller in self.controllers.items()
        ]
        about = {
            "format": _VERSION,
            "bins": len(EDGES),
            "version": self.version,
            "settings": asdict(self.settings),
        }
        table = pa.Table.from_pylist(rows, _SCHEMA)
        return table.replace_schema_metadata({_SNAPSHOT: json.dumps(about)})

    @classmethod
    def from_table(cls, table: pa.Table) -> Control:
        """Return the control that ``to_table`` told.

        Raises ``ValueError``, saying what was expected, if the table is damaged or of another
        format.
        """
        expected = f"a control of format {_VERSION}, of {len(EDGES)} bins"
        try:
            about = json.loads((table.schema.metadata or {})[_SNAPSHOT])
            found = cls({}, ControlSettings(**about["settings"]), about["version"])
            same = (about["format"], about["bins"]) == (_VERSION, len(EDGES))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the table does not say what it is: expected {expected}") from error
        if not same or not table.schema.equals(_SCHEMA):
            raise ValueError(f"expected {expected}")
        for state in table.to_pylist():
            row = state.pop("predicate"), state.pop("told")
            found.controllers[row] = Controller.of_state(state, found.settings)
        return found
