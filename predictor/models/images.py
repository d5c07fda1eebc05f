"""Models as compiled images."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow.compute as pc

from birthmark.features.encoding import Encoding
from birthmark.predictor.image.forest import Group
from birthmark.predictor.image.format import Section, compile_image
from birthmark.predictor.image.rules import ImageRule, RulesSection
from birthmark.predictor.image.trees import ATTRIBUTES, ImageTree, TreesSection
from birthmark.predictor.models.able.model import AttributeTree
from birthmark.predictor.models.able.set import ATTRIBUTES as ABLE_ATTRIBUTES
from birthmark.predictor.models.able.set import AbleModels
from birthmark.predictor.models.forest.model import CreateForest
from birthmark.predictor.models.forest.sections import forest_section, group_of
from birthmark.predictor.models.forest.set import ForestModels
from birthmark.predictor.models.kinds import Point
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.models.name.model import NameRules
from birthmark.predictor.models.name.set import NameModels

_PREFIX = 5
_ANY = b".*"  # predictor.models.rules.model.ANY
_ROLES = ("whole", "middle", "prefix", "last", "first", "any")  # by precedence


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
    return _compile_cuts(_section_maker(models.kind), cuts) if cuts else []


def _compile_cuts(make: _Sections, cuts: Mapping[str, tuple[Any, float]]) -> list[bytes]:
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
    return _section_maker(models.kind)(some, thresholds), abstained


def _section_maker(kind: str) -> _Sections:
    if kind not in _SECTIONS:
        raise ValueError(f"no image can be made of models of kind {kind!r}")
    return _SECTIONS[kind]


Thresholds = Mapping[str, float | None]
_Sections = Callable[[Any, Any], list[Section]]


def _name_sections(models: Mapping[str, NameRules], thresholds: Thresholds) -> list[Section]:
    rules: list[ImageRule] = []
    for key, model in models.items():
        rules += _rules_of(key, model, thresholds[key])
    return [RulesSection(rules)]


def _rules_of(key: str, model: NameRules, threshold: float | None) -> Iterator[ImageRule]:
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
    starts, text, ends = _parts(component)
    if starts and ends:
        yield ImageRule(key, "whole", text, yes)
    elif starts:
        yield ImageRule(key, "first", text, yes)
        if prefix and len(text) == _PREFIX:
            yield ImageRule(key, "prefix", text, yes)
    else:
        yield ImageRule(key, "last" if ends else "middle", text, yes)


def _parts(component: bytes) -> tuple[bool, bytes, bool]:
    """Return whether a component begins a name, its plain bytes, and whether it ends it."""
    starts = component.startswith(b"^")
    text = component[starts:]
    escaped = len(text[:-1]) - len(text[:-1].rstrip(b"\\"))
    ends = text.endswith(b"$") and escaped % 2 == 0
    return starts, re.sub(rb"(?s)\\(.)", rb"\1", text[:-1] if ends else text), ends


def _decided_sections(models: Mapping[str, Any], thresholds: Thresholds) -> list[Section]:
    rules: list[ImageRule] = []
    for key, model in models.items():
        rules += _verdicts_of(key, model, thresholds[key])
    return [RulesSection(rules, _ROLES)]


def _verdicts_of(key: str, model: Any, threshold: float | None) -> Iterator[ImageRule]:
    """Yield the rules that say yes or no at ``threshold`` (``predictor.models.rules.model``)."""
    if threshold is None:
        return
    if threshold <= 0:  # which the score of a name without a rule reaches
        yield ImageRule(key, "any", b"", True)
        return
    columns = (model.rules_[name].to_pylist() for name in ("component", "lower", "upper"))
    for component, lower, upper in zip(*columns, strict=True):
        if lower < threshold <= upper:
            continue
        if component == _ANY:
            yield ImageRule(key, "any", b"", lower >= threshold)
        else:
            yield from rules_for(key, component, model.prefix, lower >= threshold)


def _able_sections(models: Mapping[str, AttributeTree], thresholds: Thresholds) -> list[Section]:
    return [TreesSection([_tree_of(key, model, thresholds[key]) for key, model in models.items()])]


def _tree_of(key: str, model: AttributeTree, threshold: float | None) -> ImageTree:
    if tuple(model.attributes_) != ATTRIBUTES or tuple(ABLE_ATTRIBUTES) != ATTRIBUTES:
        raise ValueError(f"the tree of {key!r} is over {', '.join(model.attributes_)}")
    nodes = model.tree_.nodes
    shares = nodes.n_true / np.maximum(nodes.n, 1)
    answer = np.zeros(len(shares), np.bool_) if threshold is None else shares >= threshold
    values = model.tree_.values
    return ImageTree(key, nodes.parent, nodes.attribute, nodes.code, answer, values)


def _forest_sections(models: Mapping[str, CreateForest], thresholds: Thresholds) -> list[Section]:
    """Return a section for each encoding, with a group for each forest."""
    forests: dict[int, list[str]] = {}
    for key, model in models.items():
        forests.setdefault(id(model.forest_), []).append(key)
    encodings: dict[bytes, tuple[Encoding, list[Group]]] = {}
    for keys in forests.values():
        model = models[keys[0]]
        own = {key: t for key in keys if (t := thresholds[key]) is not None}
        outputs = [models[key].output_ for key in own]
        if own:
            group = group_of(model.forest_, outputs, own)
            content = model.encoding_.to_table().combine_chunks().to_pydict()
            known = encodings.setdefault(repr(content).encode(), (model.encoding_, []))
            known[1].append(group)
    return [forest_section(encoding, groups) for encoding, groups in encodings.values()]


_SECTIONS: dict[str, _Sections] = {
    NameModels.kind: _name_sections,
    AbleModels.kind: _able_sections,
    "rules": _decided_sections,
    ForestModels.kind: _forest_sections,
}
