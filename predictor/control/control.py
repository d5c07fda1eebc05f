"""The controllers of all predicates and history scopes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Floats
from birthmark.features.history_scope import HistoryScope
from birthmark.predictor.answers.operating_points import NEVER
from birthmark.predictor.control.controller import EDGES, Controller, ControlSettings

Row = tuple[str, HistoryScope]
"""A predicate's key, and a history scope (``features.history_scope``)."""

_SNAPSHOT = b"birthmark.control"
_VERSION = 2
_COUNTS = pa.list_(pa.float64())
_SCHEMA = pa.schema(
    [
        ("predicate", pa.utf8()),
        ("told", pa.utf8()),
        ("static", pa.float64()),
        ("outcomes", pa.int64()),
        ("false_positives", pa.int64()),
        ("recent", pa.float64()),
        ("recent_wrong", pa.float64()),
        ("mass", pa.float64()),
        ("false", _COUNTS),
        ("true", _COUNTS),
    ]
)


class Control:
    """A ``Controller`` for each predicate and history scope.

    ``static`` has the calibrated threshold of each (``OperatingPoints.bounded``; None abstains).
    ``version`` names their model: scores of different models are not comparable.
    """

    def __init__(
        self,
        static: Mapping[Row, float | None],
        settings: ControlSettings | None = None,
        version: str = "",
    ) -> None:
        self.settings, self.version = settings or ControlSettings(), version
        self.controllers = {
            row: Controller(threshold, self.settings) for row, threshold in static.items()
        }

    def thresholds(self) -> dict[Row, float | None]:
        """Return the thresholds in force; None is never a yes."""
        return {row: controller.threshold for row, controller in self.controllers.items()}

    def observe(
        self, predicate: str, scope: HistoryScope, scores: Floats, in_force: Floats, truths: Bools
    ) -> None:
        """Count new outcomes of one predicate: see ``Controller.observe``.

        ``in_force`` has the threshold at the time of each answer; NaN abstained. Raises
        ``KeyError`` if the control has no such row.
        """
        never = np.where(np.isnan(in_force), NEVER, in_force)
        self.controllers[predicate, scope].observe(scores, never, truths)

    def to_table(self) -> pa.Table:
        """Return the state as a table, a row per controller."""
        rows = [
            {"predicate": predicate, "told": scope, **controller.state()}
            for (predicate, scope), controller in self.controllers.items()
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
        """Return the control that ``to_table`` wrote.

        Raises ``ValueError``, naming the expected format, if the table is damaged or of another.
        """
        expected = f"a control of format {_VERSION}, of {len(EDGES)} bins"
        try:
            about = json.loads((table.schema.metadata or {})[_SNAPSHOT])
            control = cls({}, ControlSettings(**about["settings"]), about["version"])
            same = (about["format"], about["bins"]) == (_VERSION, len(EDGES))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the table has no valid description: expected {expected}") from error
        if not same or not table.schema.equals(_SCHEMA):
            raise ValueError(f"expected {expected}")
        for state in table.to_pylist():
            row = state.pop("predicate"), state.pop("told")
            control.controllers[row] = Controller.of_state(state, control.settings)
        return control
