"""A compiled model as a file: an image, and the probabilities of its answers.

``docs/image-format.md`` specifies the format, and ``native/model`` reads it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterable
from typing import Any

from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Image
from birthmark.predictor.models.compile import compile_levels, compile_models
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.assignments import Assignments
from birthmark.predictor.saved_images import certainties

MAGIC = b"BMMODEL\n"
VERSION = 1

_ALIGN = 8


def compile_model(
    models: ModelSet[Any],
    assignments: Iterable[Assignments],
    point: Point,
    abstaining: Collection[str] = (),
) -> bytes:
    """Return the file that answers as ``models`` do at ``point``, with probabilities.

    Predicates ``abstaining`` are never a yes, as in ``predictor.answers.certainty.answer``. Models
    that were not calibrated answer yes or no without probabilities. Raises ``ValueError`` as
    ``compile_models`` does.
    """
    image, chosen = compile_models(models, point, abstaining), models.at(point)
    levels = compile_levels(chosen)
    descriptions = certainties(chosen, assignments, point)
    if not levels:
        descriptions = [certainty.describe_uncalibrated(Image(image).predicates)]
    descriptions = [certainty.suppress_yes(text, abstaining) for text in descriptions]
    return laid_out([f"[{','.join(descriptions)}]".encode(), image, *levels])


def laid_out(parts: list[bytes]) -> bytes:
    """Return parts as one file: the levels' descriptions, the image, the images of levels."""
    directory, content = b"", b""
    begin = len(MAGIC) + 16 + 8 * len(parts)
    for part in parts:
        content += bytes(-(begin + len(content)) % _ALIGN)
        directory += struct.pack("<II", begin + len(content), len(part))
        content += part
    rest = struct.pack("<II", len(parts), 0) + directory + content
    return MAGIC + struct.pack("<II", VERSION, zlib.crc32(rest)) + rest
