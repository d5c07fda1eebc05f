"""All kinds of models, by their words (what one registers of itself: ``kind``)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from birthmark.predictor import models
from birthmark.predictor.models.kind import ModelKind

KINDS: Mapping[str, ModelKind] = {
    name: import_module(f"{models.__name__}.{name}.kind").KIND for name in models.FOLDERS
}
"""The kinds by their words: those that learn."""

BEST = "best"
"""Of each predicate, and for whatever is told of a create, the best of them (``models.best``)."""

if TYPE_CHECKING:
    Kind = str
    Learning = str
else:
    Kind = Literal[(*KINDS, BEST)]
    Learning = Literal[tuple(KINDS)]
"""The word of one of ``KINDS``, or ``BEST`` (not of ``Learning``): what is read as such is refused
if it is another."""
