"""The hint image of the current model, and its answerer."""

from __future__ import annotations

from dataclasses import dataclass

from birthmark.predictor.image.header import checksum
from birthmark_native import Answerer


@dataclass(frozen=True)
class Hints:
    """A model's hint image: the bytes for kernels to load, and an answerer made from them.

    ``etag`` is a strong entity tag (RFC 9110 section 8.8.3): the version and the checksum.
    """

    content: bytes
    answerer: Answerer
    etag: str


def etag_of(version: str, content: bytes) -> str:
    """Return the entity tag of a version's hint image."""
    return f'"{version}-{checksum(content):08x}"'
