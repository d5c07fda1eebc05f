"""Compile models to images, in memory (files of them: ``predictor.saved_images``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Section, compile_image
from birthmark.predictor.models.model_set import ModelSet

Sections = Callable[[Any, Any], list[Section]]
"""Makes the sections of models by key and of their thresholds (``ModelSet.sections``)."""


def compile_models(models: ModelSet[Any], point: Point) -> bytes:
    """Return the image that answers as ``models`` do at ``point``.

    Raises ``ValueError`` for a kind of models that has no section, and where something is more or
    longer than an image has room for.
    """
    sections, abstained = sections_of(models, point, models)
    return compile_image(list(models), sections, abstained)


def compile_levels(models: ModelSet[Any]) -> list[bytes]:
    """Return images that tell the level of each predicate's score (``predictor.answers.levels``).

    Their predicates are ``PLACE KEY``: whether the score reaches that cut of KEY. They are as many
    as an image's room makes necessary. Raises ``ValueError`` as ``compile_models`` does.
    """
    cuts = {
        f"{place} {key}": (model, cut)
        for key, model in models.items()
        for place, cut in enumerate(models.point(key).levels.cuts)
    }
    return _compile_cuts(models.sections, cuts) if cuts else []


def _compile_cuts(make: Sections, cuts: Mapping[str, tuple[Any, float]]) -> list[bytes]:
    models = {name: model for name, (model, _) in cuts.items()}
    try:
        sections = make(models, {name: cut for name, (_, cut) in cuts.items()})
        return [compile_image(list(cuts), sections)]
    except ValueError:
        if len(cuts) == 1:
            raise
    every, half = list(cuts.items()), len(cuts) // 2
    return [
        image for some in (every[:half], every[half:]) for image in _compile_cuts(make, dict(some))
    ]


def sections_of(
    models: ModelSet[Any], point: Point, keys: Iterable[str]
) -> tuple[list[Section], set[str]]:
    """Return the sections that answer as the models of ``keys`` do, and the keys that abstain.

    Raises ``ValueError`` for a kind of models that has no section.
    """
    some = {key: models[key] for key in keys}
    thresholds = {key: models.point(key).at(point) for key in some}
    abstained = {key for key, threshold in thresholds.items() if threshold is None}
    return models.sections(some, thresholds), abstained
