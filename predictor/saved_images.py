"""A trained model's compiled images as files, one per kind of models and operating point."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.allocation.verdicts import Hinting, hint_image
from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.models.compile import compile_levels, compile_models
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.assignments import Assignments

log = logging.getLogger(__name__)

DIRECTORY = "images"


class Answering(Hinting, Protocol):
    """The parts of ``TrainedModel`` that images are made of."""

    assignments: list[Assignments]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of models that there are."""


def image_name(kind: str, point: Point) -> str:
    """Return the name of the image that answers all predicates."""
    return f"{DIRECTORY}/{kind}-{point}.image"


def hints_name(kind: str, point: Point) -> str:
    """Return the name of the image of hints for file systems."""
    return f"{DIRECTORY}/hints-{kind}-{point}.image"


def levels_name(kind: str, point: Point, number: int) -> str:
    """Return the name of one of the images that give the level of each score.

    Both points share them, except for ``best``, which may choose other models at each.
    """
    models = f"{kind}-{point}" if kind == BEST else kind
    return f"{DIRECTORY}/{models}-levels-{number}.image"


def certainty_name(kind: str, point: Point) -> str:
    """Return the name of the file that describes the levels (``predictor.answers.certainty``)."""
    return f"{DIRECTORY}/{kind}-{point}-certainty.json"


def save(trained: Answering, directory: Path) -> list[str]:
    """Write every image that can be compiled; return their names.

    Left out are models that the format has no room for, hints that were not learned, and a user's
    estimators.
    """
    compiled = [kind for kind in trained.kinds if kind in (*KINDS, BEST)]
    images = [("", image_name, _image, kind) for kind in compiled]
    images += [("hint ", hints_name, hint_image, kind) for kind in trained.hints]
    saved = []
    (directory / DIRECTORY).mkdir()
    for prefix, name, make, kind in images:
        for point in POINTS:
            try:
                content = make(trained, kind, point)
            except ValueError as error:
                log.warning("no %simage of %s, %s: %s", prefix, kind, point, error)
                continue
            (directory / name(kind, point)).write_bytes(content)
            saved.append(name(kind, point))
    return [
        *saved,
        *(name for kind in compiled for name in _save_levels(trained, kind, directory)),
    ]


def certainties(
    models: ModelSet[Any], assignments: Iterable[Assignments], point: Point
) -> list[str]:
    """Return the level descriptions for each history scope of the models."""
    scopes = HISTORY_SCOPES if len(models.scopes) > 1 else models.scopes
    return [certainty.describe(models.points_for(scope), assignments, point) for scope in scopes]


def _save_levels(trained: Answering, kind: str, directory: Path) -> list[str]:
    compiled: dict[int, list[bytes]] = {}
    parts: dict[str, bytes] = {}
    for point in POINTS:
        models = trained.of_kind(kind).at(point)
        try:
            images = compiled.get(id(models)) or compile_levels(models)
        except ValueError as error:
            log.warning("no images of the levels of %s: %s", kind, error)
            return []
        compiled[id(models)] = images
        parts |= {levels_name(kind, point, number): image for number, image in enumerate(images)}
        if images:
            text = f"[{','.join(certainties(models, trained.assignments, point))}]"
            parts[certainty_name(kind, point)] = text.encode()
    for name, content in parts.items():
        (directory / name).write_bytes(content)
    return list(parts)


def _image(trained: Answering, kind: str, point: Point) -> bytes:
    return compile_models(trained.of_kind(kind), point)
