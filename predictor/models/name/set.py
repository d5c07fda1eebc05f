"""The name models of all predicates."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.predictor.answers.operating_points import NEVER
from birthmark.predictor.answers.point import Point
from birthmark.predictor.models.components.counts import COUNTS
from birthmark.predictor.models.components.set import ComponentModels, as_rules
from birthmark.predictor.models.model_set import most_decisive_first
from birthmark.predictor.models.name.model import NameRules, fractions
from birthmark_native import match_components, name_components


class NameModels(ComponentModels[NameRules]):
    """One ``NameRules`` per predicate."""

    kind = "name"
    model = NameRules
    parameters = ("minfrac", "mincount", "prefix")
    decision = math.ulp(0.0)  # any matching rule is a yes
    is_baseline = True
    rules_schema = COUNTS

    @classmethod
    def check_rules(cls, rules: pa.Table) -> None:
        """Raise ``ValueError``, naming the expected condition, for invalid ``rules``."""
        impossible = pc.or_(pc.greater(rules["n_m"], rules["n_a"]), pc.equal(rules["n_m"], 0))
        if pc.any(impossible).as_py():
            raise ValueError("0 < n_m <= n_a")
        match_components(pa.array([], pa.binary()), rules["component"].combine_chunks(), True)

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the component of strongest evidence (None: no rule matched)."""
        return [self._strongest(name) for name in creates["name"].to_pylist()]

    def rules(self, point: Point) -> pa.Table:
        """Return the rules for yes at ``point``: the strongest one in a name decides."""
        tables = []
        for key, model in self.items():
            threshold = self.point(key).at(point)
            decided = model.decided()
            reach = pc.greater_equal(fractions(decided), NEVER if threshold is None else threshold)
            tables.append(as_rules(key, decided.filter(reach)))
        return most_decisive_first(tables)

    def _strongest(self, name: bytes | None) -> dict[str, tuple[float, dict[str, Any]]]:
        prefix = any(model.prefix for model in self.values())
        best: dict[str, int] = {}
        for component in () if name is None else name_components(name, prefix):
            for key, rank in self.index.get(component, ()):
                best[key] = min(rank, best.get(key, rank))
        return {key: self._rule(key, best.get(key)) for key in self}

    def _rule(self, key: str, rank: int | None) -> tuple[float, dict[str, Any]]:
        if rank is None:
            return 0.0, dict.fromkeys(("component", "n_m", "n_a"))
        rule = self.rows[key][rank]
        return rule["n_m"] / rule["n_a"], {n: rule[n] for n in ("component", "n_m", "n_a")}
