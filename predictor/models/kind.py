"""One kind of models: what its folder registers of it (all kinds: ``kinds``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from birthmark.predictor.models.model_set import ModelSet


@dataclass(frozen=True)
class ModelKind:
    """A kind of models, and where all that depends on it is.

    To ask it takes no model: ``models`` and ``estimator`` are imported when they are first used.
    """

    package: str
    """The kind's folder as it is imported; its last part is the kind's word."""
    title: str
    """What people are shown of the word."""
    models_in: str
    """The class of ``models``, as ``MODULE.CLASS`` in the folder."""
    estimator_in: str
    """The class of ``estimator``, likewise."""
    evidence: type[Any]
    """The members of the evidence for an answer, as a ``TypedDict``: the interface shows them."""
    in_words: Callable[[Any], str]
    """Returns such evidence as a phrase that people read."""
    knows_history: bool = False
    """Whether its models see what was seen of earlier files, so that answers rest on it."""
    bound_is_of: str | None = None
    """Of which creates the bound on false positives is kept; ``None``: of all."""

    @property
    def name(self) -> str:
        """The word that the kind goes by, in files, answers and on the command line."""
        return self.package.rpartition(".")[2]

    @property
    def models(self) -> type[ModelSet[Any]]:
        """The models of this kind, one per predicate: fitted, stored, explained, compiled."""
        models: type[ModelSet[Any]] = self._class(self.models_in)
        return models

    @property
    def estimator(self) -> type[Any]:
        """One model of this kind, by scikit-learn's conventions."""
        return self._class(self.estimator_in)

    def _class(self, place: str) -> type[Any]:
        module, _, name = place.rpartition(".")
        found: type[Any] = getattr(import_module(f"{self.package}.{module}"), name)
        return found
