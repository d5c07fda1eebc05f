"""Synthetic loads in place of the paper's traces, which are not public, and their fits.

The first trace is of an Auspex file server at Berkeley in 1993 (table 2 and section 4.1), the
second of ClarkNet's Web server in 1995 (table 2 and section 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True)
class Nfs:
    """Attributes, directories, and files read whole in pieces; ``NfsLoad`` explains the fields."""

    files: int
    exponent: float
    sigma: float
    rate: float
    bytes: float
    metadata: float
    metadata_bytes: float
    gap_ms: float


@dataclass(frozen=True)
class Web:
    """Whole files, requested in batches of a second; ``WebLoad`` explains the fields."""

    files: int
    popular: float
    popular_requests: float
    sigma: float
    rate: float
    bytes: float


Load = Nfs | Web

NFS = Nfs(
    files=300_000,
    exponent=1.0,
    sigma=1.3,
    rate=6_302_418 / (40 * 3600),
    bytes=10_100 * MB / 6_302_418,
    metadata=0.75,
    metadata_bytes=0.54,
    gap_ms=5,
)
"""The paper prints rate, bytes and shares. The number of files is fitted to figure 3 (33 % at 32 MB
a disk); popularity (Zipf's law), deviation and gap are assumed."""

WEB = Web(
    files=13_000,
    popular=0.1,
    popular_requests=0.85,
    sigma=1.4,
    rate=2_955_038 / (236 * 3600),
    bytes=27_810 * MB / 2_955_038,
)
"""The paper prints rate, bytes and popularity. The number of files is fitted to the hit ratio of
small caches (95 to 98 %, here at 8 MB a disk); the deviation is assumed."""
