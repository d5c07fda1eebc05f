"""The losses of a monitor over a whole ingest, from the rows of the loss table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

LEAST_MESSAGES = 1000  # messages: a period with fewer is too small for a share


@dataclass(frozen=True)
class Estimate:
    """Messages seen, and the estimated number lost in addition.

    ``worst_period`` has the largest share of losses among periods with a thousand messages or more,
    if any: its time in microseconds since the epoch, UTC, and the share.
    """

    seen: int
    lost: float
    fraction: float
    worst_period: int | None = None
    worst_fraction: float | None = None


class Losses:
    """Sums the rows of :data:`birthmark.data.schema.LOSS` by period."""

    def __init__(self) -> None:
        self._periods: dict[int, tuple[int, float]] = {}

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        seen = pc.add(pc.add(batch["calls"], batch["replies"]), batch["orphans"])
        times = np.asarray(batch["time"].cast(pa.int64()))
        columns = (times, np.asarray(seen), np.asarray(batch["lost"]))
        for time, count, lost in zip(*columns, strict=True):
            before = self._periods.get(int(time), (0, 0.0))
            self._periods[int(time)] = (before[0] + int(count), before[1] + float(lost))

    def estimate(self) -> Estimate | None:
        """Return the estimate, or None if there were no rows."""
        if not self._periods:
            return None
        seen = sum(count for count, _ in self._periods.values())
        lost = sum(lost for _, lost in self._periods.values())
        telling = {time: of for time, of in self._periods.items() if sum(of) >= LEAST_MESSAGES}
        worst = max(telling or self._periods, key=lambda time: _share(*self._periods[time]))
        return Estimate(
            seen, round(lost, 1), _share(seen, lost), worst, _share(*self._periods[worst])
        )


def _share(seen: int, lost: float) -> float:
    return lost / (seen + lost) if lost else 0.0
