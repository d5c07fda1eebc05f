"""The model for hints in a replay: a compiled image, or the published model of a registry."""

from __future__ import annotations

from pathlib import Path

from birthmark.data.common.regular import MODEL_BYTES, read_regular
from birthmark.predictor.allocation.verdicts import HINTS, RegionCapacity, hint_image
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Image
from birthmark.predictor.trained import TrainedModel
from birthmark.training.registry.published import read_published
from birthmark.training.registry.versions import Registry, is_remote
from birthmark_native import ImageError


def read_image(place: Path | str, room: RegionCapacity, point: Point | None = None) -> bytes:
    """Return the image in a file, or of a registry's published model (the registry may be a URI).

    The image calls as much hot as has ``room`` (``predictor.allocation.verdicts``), at ``point``,
    or at the operating point for which the model was published.

    Raises:
        OSError: there is neither.
        ValueError: it is damaged, or answers neither HotName nor HotDir; or an image is given with
            a ``point``.
    """
    path = Path(place)
    if is_remote(place) or path.is_dir():
        published = read_published(Registry(place), point=point)
        model = TrainedModel.load(published.directory, counts=False, only=published.kind)
        never = published.abstaining.keys() & HINTS
        return hint_image(model, published.kind, published.point, room, never)
    content = read_regular(path, MODEL_BYTES)
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
