"""Models of one kind, one per predicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import pyarrow as pa

from predictor.classifier import BinaryClassifier

Model = TypeVar("Model", bound=BinaryClassifier)


@dataclass(frozen=True)
class Answer:
    """Whether a predicate is predicted to hold, and the evidence, as JSON can carry it."""

    answer: bool
    evidence: dict[str, Any]


class ModelSet(dict[str, Model]):
    """Models of one kind by the key of the predicate that each predicts.

    Subclasses say what the kind's models see of a create, how they explain themselves, and how
    they are stored.
    """

    kind: ClassVar[str]
    estimator: ClassVar[type[BinaryClassifier]]
    parameters: ClassVar[tuple[str, ...]]
    """The constructor parameters of the kind's models."""

    def train(
        self, key: str, columns: pa.Table, labels: pa.BooleanArray, **parameters: Any
    ) -> None:
        """Train the model of ``key`` on the rows whose label is known."""
        known = labels.is_valid()
        model: Any = self.estimator(**parameters)
        self[key] = model.fit(columns.filter(known), labels.filter(known))

    def predict(self, creates: pa.Table) -> dict[str, pa.BooleanArray]:
        """Return every model's answer for each row of ``creates`` (``features.CREATES``)."""
        columns = self.columns(creates)
        return {key: pa.array(model.predict(columns)) for key, model in self.items()}

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return what models of the kind see of ``creates``."""
        raise NotImplementedError

    def explain(self, creates: pa.Table) -> list[dict[str, Answer]]:
        """Return for each row every model's answer, by key, with its evidence."""
        raise NotImplementedError

    def save(self, directory: Path) -> list[str]:
        """Write the models to files in ``directory``; return the files' names."""
        raise NotImplementedError

    @classmethod
    def load(
        cls, directory: Path, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the models of ``keys`` that were saved in ``directory``.

        Without ``counts``, what is needed only to learn on is left out. Raises
        ``predictor.parts.DamagedModelError`` where a file is not as it was saved.
        """
        raise NotImplementedError
