"""The name models of all predicates, asked together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from data.schema import WORD
from features.components import component_text, match_components, name_components
from predictor import parts
from predictor.model_set import ModelSet
from predictor.name_model import COUNTS, NameModel

RULES = pa.schema([pa.field("predicate", WORD, nullable=False), *COUNTS])
"""The kept components of every predicate, strongest evidence first."""

_RULES_FILE = "name-rules.arrow"
_COUNTS_FILE = "name-counts.arrow"


class NameModels(ModelSet[NameModel]):
    """One ``NameModel`` per predicate.

    Stored as two files: the rules, which are all that prediction needs, and the counts of all
    components, from which learning goes on: a row per component, two columns per predicate.
    """

    kind = "name"
    estimator = NameModel
    parameters = ("minfrac", "mincount", "prefix")
    decision = math.ulp(0.0)  # any rule that matches says yes
    is_baseline = True

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return the names of ``creates``."""
        return creates.select(["name"])

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the component of strongest evidence (None: no rule matched)."""
        return [self._strongest(name) for name in creates["name"].to_pylist()]

    def save(self, directory: Path) -> list[str]:
        """Write the rules, and the counts where the models have them."""
        rules = [_with_predicate(key, model.rules_) for key, model in self.items()]
        parts.write_table(directory / _RULES_FILE, pa.concat_tables([RULES.empty_table(), *rules]))
        if not all(hasattr(model, "counts_") for model in self.values()):
            return [_RULES_FILE]
        parts.write_table(directory / _COUNTS_FILE, _to_columns(self))
        return [_RULES_FILE, _COUNTS_FILE]

    @classmethod
    def load(
        cls, directory: Path, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the saved models; without ``counts`` they predict and cannot learn."""
        keys = list(keys)
        rules = _read_rules(directory / _RULES_FILE)
        counted = _from_columns(directory / _COUNTS_FILE, keys) if counts else {}
        models = cls()
        for key in keys:
            own = rules.filter(pc.equal(rules["predicate"], key)).drop_columns("predicate")
            models[key] = NameModel.from_rules(own, counted.get(key), **parameters)
        return models

    def _strongest(self, name: bytes | None) -> dict[str, tuple[float, dict[str, Any]]]:
        prefix = any(model.prefix for model in self.values())
        best: dict[str, int] = {}
        for component in () if name is None else name_components(name, prefix):
            for key, rank in self._index.get(component, ()):
                best[key] = min(rank, best.get(key, rank))
        return {key: self._rule(key, best.get(key)) for key in self}

    def _rule(self, key: str, rank: int | None) -> tuple[float, dict[str, Any]]:
        if rank is None:
            return 0.0, {"component": None, "n_m": None, "n_a": None}
        component, n_m, n_a = self._rules[key][rank]
        return n_m / n_a, {"component": component, "n_m": n_m, "n_a": n_a}

    @cached_property
    def _rules(self) -> dict[str, list[tuple[str, int, int]]]:
        return {
            key: [
                (component_text(rule["component"]), rule["n_m"], rule["n_a"])
                for rule in model.rules_.to_pylist()
            ]
            for key, model in self.items()
        }

    @cached_property
    def _index(self) -> dict[bytes, list[tuple[str, int]]]:
        """The predicates that a component is a rule of, and its rank among their rules."""
        index: dict[bytes, list[tuple[str, int]]] = {}
        for key, model in self.items():
            for rank, component in enumerate(model.rules_["component"].to_pylist()):
                index.setdefault(component, []).append((key, rank))
        return index


def _read_rules(path: Path) -> pa.Table:
    rules = parts.read_table(path, RULES)
    impossible = pc.or_(pc.greater(rules["n_m"], rules["n_a"]), pc.equal(rules["n_m"], 0))
    if pc.any(impossible).as_py():
        raise parts.DamagedModelError(path, "0 < n_m <= n_a")
    try:
        match_components(pa.array([], pa.binary()), rules["component"].combine_chunks(), True)
    except ValueError as error:
        raise parts.DamagedModelError(path, f"name components ({error})") from error
    return rules


def _with_predicate(key: str, rules: pa.Table) -> pa.Table:
    predicate = pa.array([key] * len(rules), pa.utf8()).dictionary_encode().cast(WORD)
    return rules.add_column(0, RULES.field("predicate"), predicate).cast(RULES)


def _columns_of(keys: Iterable[str]) -> pa.Schema:
    names = [f"{key} {n}" for key in keys for n in ("n_a", "n_m")]
    return pa.schema([COUNTS.field("component"), *(pa.field(n, pa.uint64(), False) for n in names)])


def _to_columns(models: Mapping[str, NameModel]) -> pa.Table:
    every = pa.concat_tables(model.counts_.select(["component"]) for model in models.values())
    components = pc.unique(every["component"])
    components = components.take(pc.array_sort_indices(components))
    columns = [components]
    for model in models.values():
        place = pc.index_in(components, value_set=model.counts_["component"].combine_chunks())
        columns += [pc.fill_null(model.counts_[n].take(place), 0) for n in ("n_a", "n_m")]
    return pa.table(columns, schema=_columns_of(models))


def _from_columns(path: Path, keys: list[str]) -> dict[str, pa.Table]:
    table = parts.read_table(path, _columns_of(keys))
    counts = {}
    for key in keys:
        own = table.select(["component", f"{key} n_a", f"{key} n_m"]).rename_columns(COUNTS.names)
        counts[key] = own.filter(pc.greater(own["n_a"], 0)).combine_chunks()
        if pc.any(pc.greater(own["n_m"], own["n_a"])).as_py():
            raise parts.DamagedModelError(path, f"n_m <= n_a for {key!r}")
    return counts
