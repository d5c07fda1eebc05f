"""Texts in an image, each with a number."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from birthmark.predictor.image.format import Writer
from birthmark_native import BM_BUCKET_MAX, BM_HASH_BASIS, BM_HASH_MIX, BM_HASH_PRIME

BUCKET = BM_BUCKET_MAX
"""Greatest number of entries in a bucket, all compared by a lookup. Readers refuse more."""

_BASIS, _PRIME, _MIX = BM_HASH_BASIS, BM_HASH_PRIME, BM_HASH_MIX
_LONGEST = 2**16 - 1
_SEEDS = 64
"""Number of seeds tried. With as many buckets as texts, about one in 10^15 has more than
``BUCKET`` entries: a second seed is for texts that were made to collide."""

Hashes = npt.NDArray[np.uint32]

Entry = tuple[int, bytes, int]
"""The kind of a text, below 32; the text; its number."""


def write_dictionary(writer: Writer, entries: Iterable[Entry], finds: int) -> list[int]:
    """Add a dictionary of distinct texts; return the 8 numbers that begin its section's head.

    ``finds`` is the greatest number of texts in a lookup.
    """
    entries = sorted(entries)
    longest = max((len(text) for _, text, _ in entries), default=0)
    if longest > _LONGEST:
        raise ValueError(f"a text of {longest} bytes: an image holds {_LONGEST} at most")
    buckets = 1 << max(len(entries) - 1, 0).bit_length()
    seed, hashes = _spread(entries, buckets)
    bucket = hashes & np.uint32(buckets - 1)
    order = np.argsort(bucket, kind="stable")
    starts = np.searchsorted(bucket[order], np.arange(buckets + 1))
    writer.steps += finds * (1 + int(np.diff(starts).max()))
    rows, text = [], bytearray()
    for place in order.tolist():
        kind, key, value = entries[place]
        rows.append((hashes[place], len(text), len(key) | kind << 16, value))
        text += key
    kinds = sum({1 << kind for kind, _, _ in entries})
    at_buckets, at_entries = writer.put_u32(starts), writer.put_u32(rows)
    at_text = writer.put(bytes(text), 1)
    return [seed, buckets, at_buckets, len(rows), at_entries, at_text, len(text), kinds]


def _spread(entries: list[Entry], buckets: int) -> tuple[int, Hashes]:
    """Return the first seed that overfills no bucket, and its hashes."""
    kinds = np.array([kind for kind, _, _ in entries], dtype=np.uint32)
    texts = [text for _, text, _ in entries]
    for seed in range(_SEEDS):
        hashes = _finish(_hashes(texts, seed), kinds)
        if np.bincount(hashes & np.uint32(buckets - 1), minlength=1).max() <= BUCKET:
            return seed, hashes
    raise ValueError(f"more than {BUCKET} texts share a bucket, whatever the seed")


def _hashes(texts: list[bytes], seed: int) -> Hashes:
    """Return the FNV-1a hashes of ``texts``, all at once, byte by byte."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    content = np.frombuffer(b"".join(texts), dtype=np.uint8)
    hashes = np.full(len(texts), _BASIS ^ seed, dtype=np.uint32)
    for place in range(int(lengths.max(initial=0))):
        left = np.flatnonzero(lengths > place)
        hashes[left] = (hashes[left] ^ content[starts[left] + place]) * np.uint32(_PRIME)
    return hashes


def _finish(hashes: Hashes, kinds: Hashes) -> Hashes:
    mixed = (hashes ^ (kinds + np.uint32(1))) * np.uint32(_MIX)
    return np.asarray(mixed ^ (mixed >> np.uint32(16)), dtype=np.uint32)
