"""The hint image of the model that answers, and its answer to one create."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from features.creates import from_requests
from predictor.hints import HINTS, Room, hint_image, verdicts
from predictor.image import Image, checksum
from predictor.model_set import Kind
from predictor.thresholds import Point
from predictor.trained import TrainedModel


@dataclass(frozen=True)
class Hints:
    """A model's hint image, once as the bytes that kernels load and once to be asked here.

    ``etag`` is a strong entity tag (RFC 9110 section 8.8.3): the version and the checksum.
    """

    content: bytes
    image: Image
    etag: str

    @classmethod
    def of(cls, trained: TrainedModel, kind: Kind, point: Point, room: Room, version: str) -> Hints:
        """Compile the hints of a model; raise ``ValueError`` where it has none."""
        content = hint_image(trained, kind, point, room)
        return cls(content, Image(content), f'"{version}-{checksum(content):08x}"')

    def answer(self, create: Mapping[str, Any], directory: bool) -> dict[str, bool]:
        """Return by predicate whether the image says yes to a create (see ``from_requests``)."""
        asked = from_requests([create]).append_column("directory", pa.array([directory]))
        verdict = verdicts(self.image, asked)[0].as_py()
        return {hint: bool(verdict >> place & 1) for place, hint in enumerate(HINTS)}


def matches(etag: str, wanted: str) -> bool:
    """Return whether an If-None-Match field names ``etag`` (RFC 9110 section 13.1.2)."""
    named = [each.strip().removeprefix("W/") for each in wanted.split(",")]
    return wanted.strip() == "*" or etag in named
