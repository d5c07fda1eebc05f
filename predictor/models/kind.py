"""The registration of a kind of models (all kinds: ``kinds``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from birthmark.predictor.models.model_set import ModelSet


@dataclass(frozen=True)
class ModelKind:
    """A kind of models, with its classes and descriptions.

    ``models`` and ``estimator`` are imported on first use.
    """

    package: str
    """The kind's package; its last part is the kind's name."""
    title: str
    """The name for people."""
    models_in: str
    """The class of ``models``, as ``MODULE.CLASS`` in the folder."""
    estimator_in: str
    """The class of ``estimator``, likewise."""
    evidence: type[Any]
    """The members of the evidence for an answer, as a ``TypedDict``: the API shows them."""
    in_words: Callable[[Any], str]
    """Returns such evidence as a phrase for people."""
    knows_history: bool = False
    """Whether its models use the history of earlier files."""
    bound_is_of: str | None = None
    """The creates for which the bound on false positives holds; ``None``: all."""

    @property
    def name(self) -> str:
        """The kind's name in files, answers and on the command line."""
        return self.package.rpartition(".")[2]

    @property
    def models(self) -> type[ModelSet[Any]]:
        """The class of this kind's sets of models, one model per predicate."""
        models: type[ModelSet[Any]] = self._class(self.models_in)
        return models

    @property
    def estimator(self) -> type[Any]:
        """One model of this kind, by scikit-learn's conventions."""
        return self._class(self.estimator_in)

    def _class(self, place: str) -> type[Any]:
        module, _, name = place.rpartition(".")
        loaded: type[Any] = getattr(import_module(f"{self.package}.{module}"), name)
        return loaded
