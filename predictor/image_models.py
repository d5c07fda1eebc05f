"""Models as compiled images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow.compute as pc

from features.components import component_parts
from predictor.able_models import ATTRIBUTES as ABLE_ATTRIBUTES
from predictor.able_models import AbleModels
from predictor.able_tree import AbleTree
from predictor.image import Section, compile_image
from predictor.image_rules import ImageRule, RulesSection
from predictor.image_trees import ATTRIBUTES, ImageTree, TreesSection
from predictor.model_set import ModelSet
from predictor.name_model import NameModel
from predictor.name_models import NameModels
from predictor.thresholds import Point

_PREFIX = 5


def compile_models(models: ModelSet[Any], point: Point) -> bytes:
    """Return the image that answers as ``models`` do at ``point``.

    Raises ``ValueError`` for a kind of models that has no section, and where something is more or
    longer than an image has room for.
    """
    if models.kind not in _SECTIONS:
        raise ValueError(f"no image can be made of models of kind {models.kind!r}")
    thresholds = {key: models.point(key).at(point) for key in models}
    abstained = {key for key, threshold in thresholds.items() if threshold is None}
    sections = _SECTIONS[models.kind](models, thresholds)
    return compile_image(list(models), sections, abstained)


Thresholds = dict[str, float | None]


def _name_sections(models: NameModels, thresholds: Thresholds) -> list[Section]:
    rules: list[ImageRule] = []
    for key, model in models.items():
        rules += _rules_of(key, model, thresholds[key])
    return [RulesSection(rules)]


def _rules_of(key: str, model: NameModel, threshold: float | None) -> Iterator[ImageRule]:
    """Yield the rules whose share of names with the property reaches ``threshold``."""
    if threshold is None:
        return
    if threshold <= 0:  # which the score of a name without a rule reaches
        yield ImageRule(key, "any", b"", True)
        return
    rules = model.rules_
    shares = pc.divide(rules["n_m"].cast("double"), rules["n_a"].cast("double"))
    for component in rules["component"].filter(pc.greater_equal(shares, threshold)).to_pylist():
        yield from rules_for(key, component, model.prefix, True)


def rules_for(key: str, component: bytes, prefix: bool, yes: bool) -> Iterator[ImageRule]:
    """Yield a rule for each place in which a name can have ``component``.

    With ``prefix``, the first five bytes of a name are one of them.
    """
    starts, text, ends = component_parts(component)
    if starts and ends:
        yield ImageRule(key, "whole", text, yes)
    elif starts:
        yield ImageRule(key, "first", text, yes)
        if prefix and len(text) == _PREFIX:
            yield ImageRule(key, "prefix", text, yes)
    else:
        yield ImageRule(key, "last" if ends else "middle", text, yes)


def _able_sections(models: AbleModels, thresholds: Thresholds) -> list[Section]:
    return [TreesSection([_tree_of(key, model, thresholds[key]) for key, model in models.items()])]


def _tree_of(key: str, model: AbleTree, threshold: float | None) -> ImageTree:
    if tuple(model.attributes_) != ATTRIBUTES or tuple(ABLE_ATTRIBUTES) != ATTRIBUTES:
        raise ValueError(f"the tree of {key!r} is over {', '.join(model.attributes_)}")
    nodes = model.tree_.nodes
    shares = nodes.n_true / np.maximum(nodes.n, 1)
    answer = np.zeros(len(shares), np.bool_) if threshold is None else shares >= threshold
    values = model.tree_.values
    return ImageTree(key, nodes.parent, nodes.attribute, nodes.code, answer, values)


_SECTIONS: dict[str, Callable[[Any, Thresholds], list[Section]]] = {
    NameModels.kind: _name_sections,
    AbleModels.kind: _able_sections,
}
