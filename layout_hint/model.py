"""The model that hints in a replay: a compiled image, or the published model of a registry."""

from __future__ import annotations

from pathlib import Path

from predictor.hints import HINTS, hint_image

from predictor.image import Image
from serving.models import load_model
from training.registry import Registry


def read_image(path: Path) -> bytes:
    """Return the image in a file, or that of what a registry has published.

    Raises:
        OSError: there is neither.
        ValueError: it is damaged, or answers none of HotName, HotDir and HotWrite.
    """
    if path.is_dir():
        loaded = load_model(Registry(path))
        return hint_image(loaded.trained, loaded.kind, loaded.point)
    content = path.read_bytes()
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
