"""Parameters of a load: the ``Shape`` in ``research/simulator/src/load``.

Types are checked here. The native code checks whether the load is possible, and names the key.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from birthmark.data.settings import Strict

Count = Annotated[int, Field(ge=0, le=2**40)]
Share = Annotated[float, Field(ge=0, le=1)]
Time = Annotated[float, Field(ge=0, le=1e9)]
LogNormal = tuple[Time, Annotated[float, Field(ge=0, le=5)]]


class Depth(Strict):
    """A point of a distribution: episodes of others before an episode repeats."""

    blocks: float = Field(ge=1, lt=1e12, description="of 4 KiB")
    share: Share = Field(description="of episodes that repeat by then")


class Places(Strict):
    """Positions of requests, in episodes: runs, scattered over 64 KiB, or a single request."""

    small: Share = Field(description="of episodes with requests of 4 KiB; others have up to 64")
    runs: Share = Field(description="of episodes that are runs")
    run_length: float = Field(ge=1, le=1000, description="mean number of requests of a run")
    scattered: Share = Field(description="of episodes that are scattered")
    scatter_length: float = Field(ge=1, le=1000, description="mean number of requests of one")
    near: Share = Field(description="of new episodes near a late one, scale-free")
    in_order: Share = Field(description="of episodes that repeat right after their predecessor")
    again: list[Depth] = Field(description="distribution of repeat distances, ascending")
    history_blocks: Count = Field(description="requested before the first request")


class Pace(Strict):
    """Times of requests, ms: lognormal, by the median and the logarithm's standard deviation."""

    service_ms: Time = Field(description="of the traced drive, plus half as much for each request")
    think_ms: LogNormal = Field(description="between requests of an episode")
    pause_ms: LogNormal = Field(description="between episodes of a burst")
    idle_ms: LogNormal = Field(description="between bursts")
    burst: LogNormal = Field(description="episodes of a burst")
    alike: Share = Field(description="of episodes of a burst with the same direction as the last")
    together: float = Field(
        ge=0, le=0.99, description="of episodes that overlap one of another process"
    )
    alike_beside: Share = Field(
        description="of overlapping episodes, in the direction of the first"
    )
    asynchronous_reads: Share = Field(
        description="of reads that the next request does not wait for"
    )
    asynchronous_writes: Share = Field(description="of writes that the next one does not wait for")
    flushes: Share = Field(description="of write episodes that come in floods")
    flush: LogNormal = Field(description="episodes of these")


class Load(Strict):
    """A class of loads of Hsu and Smith."""

    name: str = Field(description="theirs")
    fitted: str = Field(description="figures of the paper that it was fitted to")
    storage_bytes: float = Field(gt=0, description="in use, their Table 1")
    segment_kb: int = Field(gt=0, description="of conditional sequential prefetching")
    streams: int = Field(ge=1, le=1000, description="independent streams")
    read_share: Share = Field(description="of requests, their Table 1")
    reads: Places
    writes: Places
    pace: Pace

    def shape(self, requests: int, faster: float | None = 1.0) -> dict[str, Any]:
        """Return a load of ``requests`` requests for the engine, a fifth of them to warm up.

        Args:
            requests: the total of all streams.
            faster: speed of the replaying machine relative to the traced one; None: infinite.
        """
        own = ("streams", "read_share", "reads", "writes", "pace")
        return self.model_dump(mode="json", include=set(own)) | {
            "requests": requests,
            "warm_up": requests // 5,
            "storage_blocks": int(self.storage_bytes / 4096),
            "faster": faster,
        }
