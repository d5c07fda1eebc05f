"""What a load is like: the parameters of ``Shape`` in ``native/storage/src/load``.

Their types are checked here; whether a load can be so is checked there, which names the key, too.
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
    """A point of a distribution: as much of others came until an episode came again."""

    blocks: float = Field(ge=1, lt=1e12, description="of 4 KiB")
    share: Share = Field(description="of episodes that come again by then")


class Places(Strict):
    """Where requests go, in episodes: runs, scattered over 64 KiB, or a single request."""

    small: Share = Field(description="of episodes with requests of 4 KiB; others have up to 64")
    runs: Share = Field(description="of episodes that are runs")
    run_length: float = Field(ge=1, le=1000, description="requests of a run in the mean")
    scattered: Share = Field(description="of episodes that are scattered")
    scatter_length: float = Field(ge=1, le=1000, description="requests of one in the mean")
    near: Share = Field(description="of new episodes near a late one, scale-free")
    in_order: Share = Field(description="of episodes that come again right behind the one before")
    again: list[Depth] = Field(description="when an episode comes again, rising")
    history_blocks: Count = Field(description="asked for before the first request")


class Pace(Strict):
    """When requests come, in milliseconds: medians with deviations of the logarithm."""

    service_ms: Time = Field(description="of the traced drive, beside half as much for each")
    think_ms: LogNormal = Field(description="between requests of an episode")
    pause_ms: LogNormal = Field(description="between episodes of a burst")
    idle_ms: LogNormal = Field(description="between bursts")
    burst: LogNormal = Field(description="episodes of a burst")
    alike: Share = Field(description="of episodes of a burst that read, or write, as the last did")
    together: float = Field(
        ge=0, le=0.99, description="of episodes that one of another process takes place with"
    )
    alike_beside: Share = Field(description="of these that read, or write, as the first does")
    asynchronous_reads: Share = Field(
        description="of reads that the next request does not wait for"
    )
    asynchronous_writes: Share = Field(description="of writes that the next one does not wait for")
    flushes: Share = Field(description="of episodes of writes that are many at once")
    flush: LogNormal = Field(description="episodes of these")


class Load(Strict):
    """A class of loads of Hsu and Smith."""

    name: str = Field(description="theirs")
    fitted: str = Field(description="which of their figures it was fitted to")
    storage_bytes: float = Field(gt=0, description="in use, their Table 1")
    segment_kb: int = Field(gt=0, description="of conditional sequential prefetching")
    streams: int = Field(ge=1, le=1000, description="that know nothing of one another")
    read_share: Share = Field(description="of requests, their Table 1")
    reads: Places
    writes: Places
    pace: Pace

    def shape(self, requests: int, faster: float | None = 1.0) -> dict[str, Any]:
        """Return a load of so many requests as the engine has it, a fifth of them to warm up.

        Args:
            requests: of all streams.
            faster: by how many times the machine is that it is replayed on; None: infinitely.
        """
        own = ("streams", "read_share", "reads", "writes", "pace")
        return self.model_dump(mode="json", include=set(own)) | {
            "requests": requests,
            "warm_up": requests // 5,
            "storage_blocks": int(self.storage_bytes / 4096),
            "faster": faster,
        }
