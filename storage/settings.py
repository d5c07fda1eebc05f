"""What the storage simulator may be told. Commands make their options of it."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from birthmark.data.settings import Strict

TraceFormat = Literal["csv", "blkparse", "msr", "disksim", "validation", "srt"]
"""How a trace of a block device is written."""

IssueModel = Literal["open", "dependent", "population"]
"""Who asks when, of the requests of a trace."""

QueueOrder = Literal["fcfs", "elevator", "ncscan", "aged"]
"""In which order a host passes what waits to the drive."""

CostsName = Literal["paper", "today"]
"""What steps of a system that serves files cost."""

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

    @model_validator(mode="after")
    def _of_its_issue_model(self) -> Self:
        """Refuse what the issue model that was asked for would not look at."""
        others = ("faster",) if self.issue == "population" else ("clients", "think_ms")
        for name in others:
            if getattr(self, name) != type(self).model_fields[name].default:
                of = "open or dependent" if name == "faster" else "population"
                raise ValueError(f"{name}: expected issue to be {of}; found {self.issue}")
        return self


class AttachedOptions(Strict):
    """Systems that serve files: a server with disks, and disks on the network."""

    disks: int = Field(default=16, ge=1, le=10_000, description="over which files are striped")
    manager_mips: float = Field(default=50, ge=1e-3, le=1e9, description="of the file manager")
    manager_cache_mb: int = Field(
        default=128, ge=0, le=1 << 20, description="of a server's file manager, MB"
    )
    disk_mips: float = Field(default=25, ge=1e-3, le=1e9, description="of each disk on the network")
    disk_cache_mb: int = Field(
        default=32, ge=0, le=1 << 20, description="of each disk on the network, MB"
    )
    costs: CostsName = Field(default="paper", description="of each step: of 1998, or of today")
    drive: str = Field(
        default="", description="what each disk is: a name, or a file; else as costs say"
    )
    requests: int = Field(
        default=1_000_000, ge=1, le=10**12, description="how many are served at most"
    )
    warm_up: int = Field(
        default=0, ge=0, le=10**12, description="how many before them are only shown to the caches"
    )
    seed: int = Field(
        default=1, ge=0, le=2**53, description="of a synthetic load, and of where files begin"
    )


class PaperOptions(Strict):
    """How often a paper's experiments are run."""

    paper: PaperNumber = Field(description="number of the paper")
    seeds: int = Field(default=10, ge=1, le=1000, description="runs, each with a seed of its own")
    jobs: int = Field(default=2, ge=1, description="number of runs at a time")
