"""Compile models to images in memory (``predictor.saved_images`` writes files)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Section, compile_image
from birthmark.predictor.models.model_set import ModelSet

Sections = Callable[[Any, Any], list[Section]]
"""Makes the sections of models by key and of their thresholds (``ModelSet.sections``)."""


def compile_models(models: ModelSet[Any], point: Point, abstaining: Collection[str] = ()) -> bytes:
    """Return the image that answers as ``models`` do at ``point``; ``abstaining`` are never a yes.

    Raises ``ValueError`` for a kind of models that has no section, and if a limit of the format is
    exceeded.
    """
    models = models.at(point)
    sections, abstained = sections_of(models, point, models, abstaining)
    return compile_image(list(models), sections, abstained)


def compile_levels(models: ModelSet[Any]) -> list[bytes]:
    """Return images that give the level of each predicate's score (``operating_points.Levels``).

    Their predicates are ``PLACE KEY``: whether the score reaches that cut of KEY. The limits of the
    format may require several images. Raises ``ValueError`` as ``compile_models`` does.
    """
    cuts = {
        f"{place} {key}": (model, np.array(cut))
        for key, model in models.items()
        for place, cut in enumerate(zip_longest(*_cuts(models, key), fillvalue=np.inf))
    }
    return _compile_cuts(models.sections, cuts) if cuts else []


def _cuts(models: ModelSet[Any], key: str) -> list[tuple[float, ...]]:
    """Return the cuts of scores, for each history scope."""
    return [models.point(key, scope).levels.cuts for scope in HISTORY_SCOPES]


def _compile_cuts(make: Sections, cuts: Mapping[str, tuple[Any, Scores]]) -> list[bytes]:
    models = {name: model for name, (model, _) in cuts.items()}
    try:
        sections = make(models, {name: cut for name, (_, cut) in cuts.items()})
        return [compile_image(list(cuts), sections)]
    except ValueError:
        if len(cuts) == 1:
            raise
    items, half = list(cuts.items()), len(cuts) // 2
    return [
        image for part in (items[:half], items[half:]) for image in _compile_cuts(make, dict(part))
    ]


def sections_of(
    models: ModelSet[Any], point: Point, keys: Iterable[str], abstaining: Collection[str] = ()
) -> tuple[list[Section], set[str]]:
    """Return the sections that answer as the models of ``keys`` do, and the keys that abstain.

    These include all ``abstaining``, whatever their thresholds. Raises ``ValueError`` for a kind of
    models that has no section.
    """
    models = models.at(point)
    selected = {key: models[key] for key in keys}
    never = np.full(len(HISTORY_SCOPES), np.inf)
    thresholds = {
        key: never if key in abstaining else models.thresholds(key, point) for key in selected
    }
    abstained = {key for key, limits in thresholds.items() if np.isinf(limits).all()}
    return models.sections(selected, thresholds), abstained
