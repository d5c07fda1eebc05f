"""Fits of the loads, with the fitted and the simulated values: rows that never count."""

from __future__ import annotations

from birthmark.research.papers.claims import Claim, between, pick

PRINTED: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "P": ((0.934, 0.484, 0.587, 0.518, 0.606), (0.746, 0.375, 0.473, 0.415, 0.424)),
    "S": ((0.864, 0.393, 0.427, 0.383, 0.525), (0.623, 0.253, 0.265, 0.223, 0.293)),
    "Pm": ((0.935, 0.495, 0.596, 0.533, 0.598), (0.521, 0.247, 0.321, 0.280, 0.332)),
    "Sm": ((0.891, 0.505, 0.551, 0.523, 0.572), (0.463, 0.285, 0.284, 0.260, 0.380)),
}
"""Misses of reads without prefetching and with LFU, RA and CSP, and of writes; poor and rich."""

WRITES = {"P": (1.41, 0.70), "S": (1.32, 0.535), "Pm": (1.30, 0.474), "Sm": (1.57, 0.855)}
"""Milliseconds of write service, poor and rich."""

TIMES = {
    "P": (4.31, 6.27, 5.00, 1.84, 1.48),
    "S": (3.88, 5.34, 3.54, 3.43, 1.44),
    "Pm": (4.18, 6.04, 3.15, 1.69, 0.90),
    "Sm": (4.10, 5.69, 2.69, 5.56, 2.15),
}
"""Milliseconds: read service (poor), responses without prefetching; responses of all at depth 1."""


def _misses(name: str, environment: str, printed: tuple[float, ...]) -> Claim:
    schemes = {
        scheme: f"{name} {environment} {scheme} misses" for scheme in ("none", "LFU", "RA", "CSP")
    }
    return Claim(
        name=f"{name}, {environment}",
        where="Tables 2, 3, 6",
        says="misses of reads by prefetcher, and of writes",
        printed=" ".join(f"{value:.3f}" for value in printed),
        tolerance="fitted",
        ours=pick(**schemes, writes=f"{name} {environment} write misses"),
        holds=between(0, 1),
        fitted=True,
    )


def _times(name: str, printed: tuple[float, ...]) -> Claim:
    return Claim(
        name=f"{name}, ms",
        where="Tables 2, 6, 8",
        says="read service and responses without prefetching, responses at depth 1, write service",
        printed=" ".join(f"{value:.2f}" for value in (*printed, *WRITES[name])),
        tolerance="fitted",
        ours=pick(
            service=f"{name} poor read service ms",
            poor=f"{name} poor read ms",
            rich=f"{name} rich read ms",
            depth_1_poor=f"{name} poor depth 1 ms",
            depth_1_rich=f"{name} rich depth 1 ms",
            writes_poor=f"{name} poor write service ms",
            writes_rich=f"{name} rich write service ms",
        ),
        holds=between(0, 1e9),
        fitted=True,
    )


FITS = tuple(
    row
    for name, (poor, rich) in PRINTED.items()
    for row in (_misses(name, "poor", poor), _misses(name, "rich", rich), _times(name, TIMES[name]))
)
