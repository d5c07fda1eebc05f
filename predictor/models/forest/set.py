"""The forests of all predicates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes, Floats
from birthmark.features.creates import of_names
from birthmark.features.encoding import Encoding, mask_rows
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.image.format import Section
from birthmark.predictor.models.forest.evidence import evidence_of
from birthmark.predictor.models.forest.forest import Forest
from birthmark.predictor.models.forest.model import SEEN, CreateForest, shared
from birthmark.predictor.models.forest.sections import by_forest, least_sum, sections_of
from birthmark.predictor.models.forest.support import Support
from birthmark.predictor.models.forest.table import SharedForest, read_forests, write_forests
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.parts import Part
from birthmark.predictor.predicates.predicate import is_about_names


class ForestModels(ModelSet[CreateForest]):
    """One ``CreateForest`` per predicate; predicates share forests.

    Predicates trained together have one subject and share one encoding. They share a forest unless
    the labels of some are known for few of its lives (``predictor.models.forest.model.shared``).
    """

    kind = "forest"
    model = CreateForest
    parameters = ("trees", "rounds", "seed")
    scopes = HISTORY_SCOPES

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return the columns that the forests see."""
        return creates.select(list(SEEN))

    def train(
        self, columns: pa.Table, labels: Mapping[str, pa.BooleanArray], **parameters: Any
    ) -> None:
        """Train the models of all keys in ``labels``."""
        encoding = Encoding.learn(columns)
        matrix = encoding.transform(columns)
        keys = list(labels)
        known = [labels[key].is_valid().to_numpy(zero_copy_only=False) for key in keys]
        for group in shared(known):
            rows = np.logical_or.reduce([known[label] for label in group])
            answers = np.column_stack(
                [labels[keys[label]].cast(pa.float64()).to_numpy(False)[rows] for label in group]
            )
            forest = CreateForest(**parameters).grow(matrix[rows], answers)
            support = Support.of(matrix[rows], answers)
            entry = SharedForest(tuple(keys[label] for label in group), encoding, forest, support)
            self._add(entry, parameters)
        for key in keys:  # in the order of the labels, not of the forests
            self[key] = self.pop(key)

    def scores(self, creates: pa.Table, keys: Iterable[str] | None = None) -> dict[str, Scores]:
        """Return for each row the scores of the models of ``keys`` (None: all), from 0 to 1."""
        keys = list(self if keys is None else keys)
        scores: dict[str, Scores] = {}
        for encoding, forests in self._by_encoding(keys):
            matrix = encoding.transform(self._seen(creates, forests))
            for entry in forests:
                outputs = entry.forest.predict(matrix)
                scores |= {key: outputs[:, place] for place, key in enumerate(entry.keys)}
        return {key: scores[key] for key in keys}

    def least_sum(
        self, key: str, threshold: float | None, scope: HistoryScope = HISTORY_SCOPES[0]
    ) -> int:
        """Return the least sum of scores that reaches a threshold (``None``: ``NEVER``)."""
        scores = self[key].forest_.scores_of_sums[:, self[key].output_]
        return least_sum(scores, np.inf if threshold is None else threshold)

    def refit(self, creates: pa.Table, answers: Mapping[str, Floats]) -> Self:
        """Return these models with the leaves of some forests moved towards ``answers``.

        ``answers`` has for each row of ``creates`` 1, 0 or nan (unknown), by key; they are of one
        subject. Forests of other keys stay. Each row counts twice, with its history and without
        any: so the forests stay right for those who ask without.
        """
        refitted = self._copy()
        for encoding, forests in self._by_encoding([key for key in self if key in answers]):
            matrix = encoding.transform(self._seen(creates, forests))
            both = np.vstack([matrix, _without_history(matrix)])
            for entry in forests:
                unknown = np.full(len(creates), np.nan)
                labels = np.column_stack([answers.get(key, unknown) for key in entry.keys])
                refitted._replace(entry, entry.forest.refit(both, np.vstack([labels, labels])))
        return refitted

    def with_keys(self, refitted: Self, keys: Collection[str]) -> Self:
        """Return these models with those of ``keys`` from a refit of them."""
        mixed = self._copy()
        for entry in self._shared():
            if outputs := [place for place, key in enumerate(entry.keys) if key in keys]:
                other = refitted[entry.keys[0]].forest_
                mixed._replace(entry, entry.forest.with_outputs(other, outputs))
        return mixed

    def _copy(self) -> Self:
        models = type(self)(self)
        models.points = self.points
        return models

    def _replace(self, entry: SharedForest, forest: Forest) -> None:
        """Replace a forest; the keys keep their order."""
        own = {name: getattr(self[entry.keys[0]], name) for name in self.parameters}
        self._add(entry._replace(forest=forest), own)

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the leaves, and the columns that moved the scores most."""
        rows: list[dict[str, tuple[float, dict[str, Any]]]] = [{} for _ in range(len(creates))]
        for encoding, forests in self._by_encoding(list(self)):
            columns = self._seen(creates, forests)
            matrix, shown = encoding.transform(columns), columns.to_pylist()
            for entry in forests:
                evidence = evidence_of(entry, matrix, shown)
                for by_key, outputs in zip(rows, evidence, strict=True):
                    by_key |= dict(zip(entry.keys, outputs, strict=True))
        return [{key: by_key[key] for key in self} for by_key in rows]

    @classmethod
    def sections(
        cls, models: Mapping[str, CreateForest], cuts: Mapping[str, Scores]
    ) -> list[Section]:
        """Return a section for each encoding, with a group for each forest."""
        return list(sections_of(models))

    def save(self, directory: Part) -> list[str]:
        """Write the forests and the codes."""
        return write_forests(directory, self._shared())

    @classmethod
    def load(
        cls, directory: Part, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the saved forests; they cannot learn more, so ``counts`` has no effect."""
        models = cls()
        for entry in read_forests(directory, keys):
            models._add(entry, parameters)
        return models

    def _seen(self, creates: pa.Table, forests: Iterable[SharedForest]) -> pa.Table:
        """Return the columns that forests of one encoding, and so of one subject, see."""
        keys = (key for entry in forests for key in entry.keys)
        about_names = all(is_about_names(key) for key in keys)
        return self.columns(of_names(creates) if about_names else creates)

    def _add(self, entry: SharedForest, parameters: Mapping[str, Any]) -> None:
        for output, key in enumerate(entry.keys):
            self[key] = CreateForest.from_forest(
                entry.encoding, entry.forest, output, entry.support, **parameters
            )

    def _shared(self) -> list[SharedForest]:
        """Return the forests in the order of their first keys."""
        return [self._of(keys) for keys in by_forest(self)]

    def _of(self, keys: list[str]) -> SharedForest:
        model = self[keys[0]]
        in_order = sorted(keys, key=lambda key: self[key].output_)
        return SharedForest(tuple(in_order), model.encoding_, model.forest_, model.support_)

    def _by_encoding(self, keys: list[str]) -> list[tuple[Encoding, list[SharedForest]]]:
        """Return the forests that answer ``keys``, with those of one encoding together."""
        groups: dict[int, tuple[Encoding, list[SharedForest]]] = {}
        for entry in self._shared():
            if not set(keys).isdisjoint(entry.keys):
                groups.setdefault(id(entry.encoding), (entry.encoding, []))[1].append(entry)
        return list(groups.values())


def _without_history(matrix: Bytes) -> Bytes:
    """Return rows of bytes as of creates without history, with all attributes."""
    masked = matrix.copy()
    mask_rows(masked, "nothing", still_known=np.ones(len(masked), dtype=bool))
    return masked
