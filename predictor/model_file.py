"""A compiled model in a file: an image, and beside it what says how likely its answers are.

``docs/image-format.md`` writes the format down, and ``native/model`` reads it.
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
from birthmark.predictor.predicates.worlds import Worlds
from birthmark.predictor.saved_images import certainties

MAGIC = b"BMMODEL\n"
VERSION = 1

_ALIGN = 8


def compile_model(
    models: ModelSet[Any],
    worlds: Iterable[Worlds],
    point: Point,
    abstaining: Collection[str] = (),
) -> bytes:
    """Return the file that answers as ``models`` do at ``point``, and says how sure they are.

    Predicates ``abstaining`` are never a yes, as in ``predictor.answers.certainty.say``. Models
    that were not calibrated say a yes or a no without probabilities. Raises ``ValueError`` as
    ``compile_models`` does.
    """
    image, chosen = compile_models(models, point, abstaining), models.at(point)
    levels = compile_levels(chosen)
    described = certainties(chosen, worlds, point)
    if not levels:
        described = [certainty.plainly(Image(image).predicates)]
    described = [certainty.abstained(each, abstaining) for each in described]
    return laid_out([f"[{','.join(described)}]".encode(), image, *levels])


def laid_out(parts: list[bytes]) -> bytes:
    """Return parts as one file: what explains levels, the image, and the images of levels."""
    directory, content = b"", b""
    begin = len(MAGIC) + 16 + 8 * len(parts)
    for part in parts:
        content += bytes(-(begin + len(content)) % _ALIGN)
        directory += struct.pack("<II", begin + len(content), len(part))
        content += part
    rest = struct.pack("<II", len(parts), 0) + directory + content
    return MAGIC + struct.pack("<II", VERSION, zlib.crc32(rest)) + rest
