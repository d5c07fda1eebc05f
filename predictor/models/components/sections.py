"""Components of names as rules of an image."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from birthmark.features.components import PREFIX, Component
from birthmark.predictor.answers.operating_points import NEVER, Scores
from birthmark.predictor.image.rules import ImageRule
from birthmark.predictor.models.components.counts import ComponentCounts


def rules_of(
    models: Mapping[str, ComponentCounts], thresholds: Mapping[str, Scores]
) -> Iterator[ImageRule]:
    """Yield the rules by which ``models`` answer at ``thresholds``."""
    for key, model in models.items():
        threshold = float(thresholds[key][-1])
        if threshold > NEVER:
            continue
        if threshold <= 0:  # which the score of a name without a rule reaches
            yield ImageRule(key, "any", b"", True)
            continue
        for spelled, yes in model.verdicts(threshold):
            for place in places_of(component := Component.of(spelled), model.prefix):
                yield ImageRule(key, place, component.text, yes)


def places_of(component: Component, prefix: bool) -> list[str]:
    """Return each place in which an image's lookup finds ``component``.

    With ``prefix``, the first five bytes of a name are one of them.
    """
    if component.anchor == "first" and prefix and len(component.text) == PREFIX:
        return ["first", "prefix"]
    return [component.anchor]
