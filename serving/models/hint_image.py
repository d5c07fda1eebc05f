"""The hint image of the model that answers, and what answers from it."""

from __future__ import annotations

from dataclasses import dataclass

from birthmark.predictor.image.format import checksum
from birthmark_native import Answerer


@dataclass(frozen=True)
class Hints:
    """A model's hint image, once as the bytes that kernels load and once to be asked here.

    ``etag`` is a strong entity tag (RFC 9110 section 8.8.3): the version and the checksum.
    """

    content: bytes
    answerer: Answerer
    etag: str


def etag_of(version: str, content: bytes) -> str:
    """Return the entity tag of a version's hint image."""
    return f'"{version}-{checksum(content):08x}"'


def matches(etag: str, wanted: str) -> bool:
    """Return whether an If-None-Match field names ``etag`` (RFC 9110 section 13.1.2)."""
    named = [each.strip().removeprefix("W/") for each in wanted.split(",")]
    return wanted.strip() == "*" or etag in named
