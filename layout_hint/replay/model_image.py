"""The model that hints in a replay: a compiled image, or the published model of a registry."""

from __future__ import annotations

from pathlib import Path

from birthmark.predictor.allocation.verdicts import HINTS, Room, hint_image
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Image
from birthmark.predictor.trained import TrainedModel
from birthmark.training.registry.published import read_published
from birthmark.training.registry.versions import Registry, is_remote
from birthmark_native import ImageError


def read_image(place: Path | str, room: Room, point: Point | None = None) -> bytes:
    """Return the image in a file, or that of what a registry, maybe a URI, has published.

    That calls as much hot as has ``room`` (``predictor.allocation.verdicts``), at ``point``, or at
    that which the model was published to serve.

    Raises:
        OSError: there is neither.
        ValueError: it is damaged, or answers neither HotName nor HotDir; or a ``point`` is wanted
            of an image.
    """
    path = Path(place)
    if is_remote(place) or path.is_dir():
        published = read_published(Registry(place), point=point)
        model = TrainedModel.load(published.directory, counts=False, only=published.kind)
        never = published.abstaining.keys() & HINTS
        return hint_image(model, published.kind, published.point, room, never)
    content = path.read_bytes()
    if point:
        raise ValueError(
            f"--point {point}: expected a directory of models with it, found the file {path}, "
            "whose point was chosen when it was compiled"
        )
    try:
        found = Image(content).predicates
    except ImageError as error:
        raise ValueError(
            f"{path}: expected a compiled image or a directory of models: {error}"
        ) from error
    if not {"HotName", "HotDir"} & set(found):
        raise ValueError(
            f"{path}: expected an image that answers HotName or HotDir, found {', '.join(found)}"
        )
    return content
