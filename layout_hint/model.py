"""The model that hints in a replay: a compiled image, or the published model of a registry."""

from __future__ import annotations

from pathlib import Path

from layout_hint.comparison import BLOCK
from layout_hint.place import Region
from predictor.hints import HINTS, Room, hint_image
from predictor.image import Image
from predictor.thresholds import Point
from serving.models import load_model
from training.registry import Registry

DIRECTORIES = 256
"""So many directories have hot files born in them, at most."""


def read_image(path: Path, room: Room, point: Point | None = None) -> bytes:
    """Return the image in a file, or that of what a registry has published.

    That calls as much hot as has ``room`` (``predictor.hints``), at ``point``, or at that which the
    model was published to serve.

    Raises:
        OSError: there is neither.
        ValueError: it is damaged, or answers none of HotName, HotDir and HotWrite; or a ``point``
            is wanted of an image.
    """
    if path.is_dir():
        loaded = load_model(Registry(path), None, point)
        return hint_image(loaded.trained, loaded.kind, loaded.point, room)
    content = path.read_bytes()
    if point:
        raise ValueError(
            f"--point {point}: expected a directory of models with it, found the file {path}, "
            "whose point was chosen when it was compiled"
        )
    try:
        found = Image(content).predicates
    except ValueError as error:
        raise ValueError(
            f"{path}: expected a compiled image or a directory of models: {error}"
        ) from error
    if not set(HINTS) & set(found):
        raise ValueError(
            f"{path}: expected an image that answers {', '.join(HINTS)}, found {', '.join(found)}"
        )
    return content


def room_of(region: Region, fsize: int) -> Room:
    """Return what is to be called hot in all, for a region: an eighth of it is left to HotName.

    A third of the rest is for directories, of a fragment each (``fsize`` bytes), and two thirds are
    for what is written, in blocks of 4 KB.
    """
    fragments = region.fragments * 7 // 8
    directories = min(DIRECTORIES, fragments // 3)
    return Room(directories, (fragments - directories) * fsize // BLOCK)
