"""Files that are to be created: when, by whom, and what is to become of each."""

from __future__ import annotations

from dataclasses import dataclass

from birthmark.data.common.arrays import Ints


@dataclass(frozen=True)
class Births:
    """Files of one class that are to be created: an entry for each in every array.

    `start` is when the first call is made, `life` the time from birth to death; both microseconds.
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
