"""What the storage simulator may be told. Commands make their options of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from birthmark.data.settings import Strict

TraceFormat = Literal["csv", "blkparse", "msr", "disksim", "validation", "srt"]
"""How a trace of a block device is written."""

IssueModel = Literal["open", "dependent", "population"]
"""Who asks when, of the requests of a trace."""

QueueOrder = Literal["fcfs", "elevator", "ncscan", "aged"]
"""In which order a host passes what waits to the drive."""

PaperNumber = Literal["000", "003", "004"]
"""The papers whose claims are tried."""


class Options(Strict):
    """What a trace is replayed on."""

    drive: str = Field(description="drive: a name, or a file that ends in .toml")


class ReplayOptions(Options):
    """How a trace of a block device is served."""

    format: TraceFormat | None = Field(
        default=None, description="how the trace is written; else what its beginning looks like"
    )
    issue: IssueModel = Field(
        default="open",
        description="when requests come: at their times, when those they waited for are done (this"
        " holds the trace in memory), or when one of --clients is free",
    )
    order: QueueOrder = Field(default="elevator", description="in which the host passes them on")
    faster: float = Field(
        default=1.0, gt=0, le=1e6, description="how many times as fast as in the trace they come"
    )
    clients: int = Field(default=1, ge=1, le=1_000_000, description="of --issue population")
    think_ms: float = Field(
        default=0.0, ge=0, le=1e9, description="how long each of them thinks, ms"
    )
    wrap: bool = Field(
        default=False, description="take what lies beyond the drive's end from its beginning"
    )
    sector_bytes: int = Field(default=512, ge=1, le=1 << 20, description="of a sector of the drive")


class PaperOptions(Strict):
    """How often a paper's experiments are run."""

    paper: PaperNumber = Field(description="number of the paper")
    seeds: int = Field(default=10, ge=1, le=1000, description="runs, each with a seed of its own")
    jobs: int = Field(default=2, ge=1, description="number of runs at a time")
