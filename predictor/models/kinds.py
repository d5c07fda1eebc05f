"""All kinds of models, by name (the registration of one: ``kind``)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from birthmark.predictor import models
from birthmark.predictor.models.kind import ModelKind

KINDS: Mapping[str, ModelKind] = {
    name: import_module(f"{models.__name__}.{name}.kind").KIND for name in models.FOLDERS
}
"""The kinds that learn, by name."""

BEST = "best"
"""The best of them for each predicate and history scope (``models.best``)."""

if TYPE_CHECKING:
    Kind = str
    Learning = str
else:
    Kind = Literal[(*KINDS, BEST)]
    Learning = Literal[tuple(KINDS)]
"""The name of one of ``KINDS``, or ``BEST`` (not in ``Learning``); validation refuses others."""
