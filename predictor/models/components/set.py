"""Models of names, one per predicate, made of components and their counts; as rules of an image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import WORD
from birthmark.features.columns import names_of
from birthmark.features.components import PREFIX, Component, component_text
from birthmark.predictor import parts
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.image.format import Section
from birthmark.predictor.image.rules import MOST, PLACES, ImageRule, RulesSection
from birthmark.predictor.models.components.counts import ComponentCounts, count
from birthmark.predictor.models.model_set import RULES, ModelSet
from birthmark_native import RuleError

Model = TypeVar("Model", bound=ComponentCounts)


class ComponentModels(ModelSet[Model]):
    """One model of names per predicate, counted in one pass.

    Stored as two files: the rules, for prediction, and the counts of all components, for further
    learning, with a row per component and two columns per predicate.
    """

    model: ClassVar[type[ComponentCounts]]
    rules_schema: ClassVar[pa.Schema]
    """The columns of the models' ``rules_``."""
    add_up = True
    precedence: ClassVar[Sequence[str]] = PLACES
    """The places in a name in order of precedence."""

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return the names of ``creates``."""
        return creates.select(["name"])

    def train(
        self, columns: pa.Table, labels: Mapping[str, pa.BooleanArray], **parameters: Any
    ) -> None:
        """Train the model of each key in ``labels`` on the rows whose label is known."""
        prefix = self.model(**parameters).prefix
        counts = count(names_of(columns), labels, prefix)
        self.update(self.from_counts(counts, **parameters))

    @classmethod
    def from_counts(cls, counts: Mapping[str, pa.Table], **parameters: Any) -> Self:
        """See ``ModelSet``: the counts are those of components."""
        model: Any = cls.model
        return cls({key: model.from_counts(table, **parameters) for key, table in counts.items()})

    def save(self, directory: parts.Part) -> list[str]:
        """Write the rules, and the counts if the models have them."""
        schema = stored(self.rules_schema)
        rules = [with_predicate(key, model.rules_).cast(schema) for key, model in self.items()]
        table = pa.concat_tables([schema.empty_table(), *rules])
        parts.write_table(directory / self._file("rules"), table)
        if not all(hasattr(model, "counts_") for model in self.values()):
            return [self._file("rules")]
        parts.write_table(directory / self._file("counts"), self._counts())
        return [self._file("rules"), self._file("counts")]

    @classmethod
    def load(
        cls, directory: parts.Part, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the saved models; without ``counts`` they predict and cannot learn."""
        keys = list(keys)
        rules = cls._read_rules(directory / cls._file("rules"))
        counted = cls._read_counts(directory / cls._file("counts"), keys) if counts else {}
        models: Any = {}
        for key in keys:
            rows = rules.filter(pc.equal(rules["predicate"], key)).drop_columns("predicate")
            models[key] = cls.model.from_rules(rows, counted.get(key), **parameters)
        return cls(models)

    @classmethod
    def sections(cls, models: Mapping[str, Model], cuts: Mapping[str, Scores]) -> list[Section]:
        """Return the rules that reach a cut, or stay below one."""
        return [RulesSection(list(rules_of(models, cuts)), cls.precedence)]

    @classmethod
    def check_rules(cls, rules: pa.Table) -> None:
        """Raise ``ValueError``, naming the expected condition, for invalid ``rules``.

        Invalid components raise ``RuleError``.
        """
        raise NotImplementedError

    @cached_property
    def index(self) -> dict[bytes, list[tuple[str, int]]]:
        """By component the predicates that have it as a rule, and its rank among their rules."""
        index: dict[bytes, list[tuple[str, int]]] = {}
        for key, model in self.items():
            for rank, component in enumerate(model.rules_["component"].to_pylist()):
                index.setdefault(component, []).append((key, rank))
        return index

    @cached_property
    def rows(self) -> dict[str, list[dict[str, Any]]]:
        """The models' rules for display, with the component as text."""
        return {
            key: [
                rule | {"component": component_text(rule["component"])}
                for rule in model.rules_.to_pylist()
            ]
            for key, model in self.items()
        }

    @classmethod
    def _file(cls, part: str) -> str:
        return f"{cls.kind}-{part}.arrow"

    @classmethod
    def _read_rules(cls, path: parts.Part) -> pa.Table:
        rules = parts.read_table(path, stored(cls.rules_schema))
        try:
            cls.check_rules(rules)
        except RuleError as error:
            raise parts.DamagedModelError(path, f"name components ({error})") from error
        except ValueError as error:
            raise parts.DamagedModelError(path, str(error)) from error
        return rules

    @classmethod
    def _counts_schema(cls, keys: Iterable[str]) -> pa.Schema:
        component, *numbers = cls.model.counts_schema
        fields = [field.with_name(f"{key} {field.name}") for key in keys for field in numbers]
        return pa.schema([component, *fields])

    def _counts(self) -> pa.Table:
        tables = [model.counts_.select(["component"]) for model in self.values()]
        components = pc.unique(pa.concat_tables(tables)["component"])
        components = components.take(pc.array_sort_indices(components))
        columns = [components]
        for model in self.values():
            place = pc.index_in(components, value_set=model.counts_["component"].combine_chunks())
            columns += [pc.fill_null(model.counts_[n].take(place), 0) for n in ("n_a", "n_m")]
        return pa.table(columns, schema=self._counts_schema(self))

    @classmethod
    def _read_counts(cls, path: parts.Part, keys: list[str]) -> dict[str, pa.Table]:
        table = parts.read_table(path, cls._counts_schema(keys))
        schema = cls.model.counts_schema
        counts = {}
        for key in keys:
            rows = table.select(["component", f"{key} n_a", f"{key} n_m"])
            rows = rows.rename_columns(schema.names)
            counts[key] = rows.filter(pc.greater(rows["n_a"], 0)).combine_chunks()
            if pc.any(pc.greater(rows["n_m"], rows["n_a"])).as_py():
                raise parts.DamagedModelError(path, f"n_m <= n_a for {key!r}")
        return counts


def as_rules(key: str, rules: pa.Table) -> pa.Table:
    """Return the rules of ``key``, with their columns ``yes`` and ``decides``, as ``RULES``."""
    shown = pa.array(map(component_text, rules["component"].to_pylist()), pa.utf8())
    counts = [rules[n].cast(pa.float64()) for n in ("decides", "n_m", "n_a")]
    return pa.table([pa.repeat(key, len(rules)), shown, rules["yes"], *counts], schema=RULES)


def stored(rules: pa.Schema) -> pa.Schema:
    """Return the schema of the file that holds the ``rules`` of all predicates."""
    return pa.schema([pa.field("predicate", WORD, nullable=False), *rules])


def with_predicate(key: str, rules: pa.Table) -> pa.Table:
    """Return ``rules`` with the column ``predicate`` before the others."""
    predicate = pa.array([key] * len(rules), pa.utf8()).dictionary_encode().cast(WORD)
    return rules.add_column(0, pa.field("predicate", WORD, nullable=False), predicate)


def rules_of(
    models: Mapping[str, ComponentCounts], cuts: Mapping[str, Scores]
) -> Iterator[ImageRule]:
    """Yield the rules by which ``models`` score; see ``ModelSet.sections``."""
    for key, model in models.items():
        components, *limits = model.limits()
        least, most = (np.searchsorted(cuts[key], limit, side="right") for limit in limits)
        says_something = (least > 0) | (most < len(cuts[key]))
        for place in np.flatnonzero(says_something).tolist():
            component = Component.of(components[place].as_py())
            low, high = int(least[place]), int(most[place])
            high = MOST if high == len(cuts[key]) else high
            for where in places_of(component, model.prefix):
                yield ImageRule(key, where, component.text, low, high)


def places_of(component: Component, prefix: bool) -> list[str]:
    """Return each place in which an image's lookup finds ``component``.

    With ``prefix``, the first five bytes of a name are one of them.
    """
    if component.anchor == "first" and prefix and len(component.text) == PREFIX:
        return ["first", "prefix"]
    return [component.anchor]
