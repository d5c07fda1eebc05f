"""A trained model's compiled images on disk, one for each kind of models and point."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from predictor.hints import hint_image
from predictor.image_models import compile_models
from predictor.kinds import Point

if TYPE_CHECKING:
    from predictor.trained import TrainedModel

log = logging.getLogger(__name__)

DIRECTORY = "images"


def image_name(kind: str, point: Point) -> str:
    """Return the name of the image that answers all predicates."""
    return f"{DIRECTORY}/{kind}-{point}.image"


def hints_name(kind: str, point: Point) -> str:
    """Return the name of the image that answers what file systems ask."""
    return f"{DIRECTORY}/hints-{kind}-{point}.image"


def save(trained: TrainedModel, directory: Path) -> list[str]:
    """Write every image that can be made; return their names.

    None is made of models that the format has no room for, and none of hints that were not learned.
    """
    images = [("", image_name, _image, kind) for kind in trained.kinds]
    images += [("hint ", hints_name, hint_image, kind) for kind in trained.hints]
    saved = []
    (directory / DIRECTORY).mkdir()
    for what, name, make, kind in images:
        for point in get_args(Point):
            try:
                content = make(trained, kind, point)
            except ValueError as error:
                log.warning("no %simage of %s, %s: %s", what, kind, point, error)
                continue
            (directory / name(kind, point)).write_bytes(content)
            saved.append(name(kind, point))
    return saved


def _image(trained: TrainedModel, kind: str, point: Point) -> bytes:
    return compile_models(trained.of_kind(kind), point)
