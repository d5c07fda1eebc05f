"""Files to be created: time, creator, and future."""

from __future__ import annotations

from dataclasses import dataclass

from birthmark.data.common.arrays import Ints


@dataclass(frozen=True)
class Births:
    """Files of one class to be created, one entry each in every array.

    `start` is the time of the first call, `life` the time from birth to death; both in
    microseconds.
    """

    start: Ints
    life: Ints
    size: Ints
    use: Ints  # an index of USES
    user: Ints
    client: Ints
    directory: Ints
    slot: Ints
    mode: int
