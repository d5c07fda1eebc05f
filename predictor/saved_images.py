"""A trained model's compiled images as files, one for each kind of models and point."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from birthmark.features.told import TOLD
from birthmark.predictor.allocation.verdicts import Hinting, hint_image
from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.models.compile import compile_levels, compile_models
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.worlds import Worlds

log = logging.getLogger(__name__)

DIRECTORY = "images"


class Answering(Hinting, Protocol):
    """The parts of ``TrainedModel`` that images are made of."""

    worlds: list[Worlds]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of models that there are."""


def image_name(kind: str, point: Point) -> str:
    """Return the name of the image that answers all predicates."""
    return f"{DIRECTORY}/{kind}-{point}.image"


def hints_name(kind: str, point: Point) -> str:
    """Return the name of the image that answers what file systems ask."""
    return f"{DIRECTORY}/hints-{kind}-{point}.image"


def levels_name(kind: str, point: Point, number: int) -> str:
    """Return the name of one of the images that tell how sure the models are.

    They are the same at both points, unless at each other models answer.
    """
    own = f"{kind}-{point}" if kind == BEST else kind
    return f"{DIRECTORY}/{own}-levels-{number}.image"


def certainty_name(kind: str, point: Point) -> str:
    """Return the name of the file that explains those levels (``predictor.answers.certainty``)."""
    return f"{DIRECTORY}/{kind}-{point}-certainty.json"


def save(trained: Answering, directory: Path) -> list[str]:
    """Write every image that can be made; return their names.

    None is made of models that the format has no room for, none of hints that were not learned, and
    none of a user's estimators.
    """
    compiled = [kind for kind in trained.kinds if kind in (*KINDS, BEST)]
    images = [("", image_name, _image, kind) for kind in compiled]
    images += [("hint ", hints_name, hint_image, kind) for kind in trained.hints]
    saved = []
    (directory / DIRECTORY).mkdir()
    for what, name, make, kind in images:
        for point in POINTS:
            try:
                content = make(trained, kind, point)
            except ValueError as error:
                log.warning("no %simage of %s, %s: %s", what, kind, point, error)
                continue
            (directory / name(kind, point)).write_bytes(content)
            saved.append(name(kind, point))
    return [
        *saved,
        *(name for kind in compiled for name in _save_levels(trained, kind, directory)),
    ]


def certainties(models: ModelSet[Any], worlds: Iterable[Worlds], point: Point) -> list[str]:
    """Return what explains levels, for all that may be told to models of such a kind."""
    every = TOLD if len(models.told) > 1 else models.told
    return [certainty.described(models.points_for(told), worlds, point) for told in every]


def _save_levels(trained: Answering, kind: str, directory: Path) -> list[str]:
    made: dict[int, list[bytes]] = {}
    parts: dict[str, bytes] = {}
    for point in POINTS:
        models = trained.of_kind(kind).at(point)
        try:
            images = made.get(id(models)) or compile_levels(models)
        except ValueError as error:
            log.warning("no images of the levels of %s: %s", kind, error)
            return []
        made[id(models)] = images
        parts |= {levels_name(kind, point, number): image for number, image in enumerate(images)}
        if images:
            text = f"[{','.join(certainties(models, trained.worlds, point))}]"
            parts[certainty_name(kind, point)] = text.encode()
    for name, content in parts.items():
        (directory / name).write_bytes(content)
    return list(parts)


def _image(trained: Answering, kind: str, point: Point) -> bytes:
    return compile_models(trained.of_kind(kind), point)
