"""Settings of drives, file servers, papers and workloads. Commands make their options of them."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from birthmark.data.settings import Strict, WorkloadName
from birthmark.layout_hint.settings import Rate

TraceFormat = Literal["csv", "blkparse", "msr", "disksim", "validation", "srt"]
"""Format of a trace of a block device."""

IssueModel = Literal["open", "dependent", "population"]
"""Model of when the requests of a trace are issued."""

QueueOrder = Literal["fcfs", "elevator", "ncscan", "aged"]
"""Order in which a host passes waiting requests to the drive."""

CostsName = Literal["paper", "today"]
"""Costs of the steps of a system that serves files."""

PaperNumber = Literal["000", "003", "004"]
"""Papers whose claims can be tested."""

Format = Literal["operations", "text", "pcap"]
"""The output formats of a workload."""


class Options(Strict):
    """The target of a block replay."""

    drive: str = Field(description="drive: a name, or a file that ends in .toml")


class ReplayOptions(Options):
    """Options of block replay: a trace of a block device on a simulated drive."""

    format: TraceFormat | None = Field(
        default=None, description="format of the trace; else detected from its beginning"
    )
    issue: IssueModel = Field(
        default="open",
        description="when requests come: at their times, after those they depend on (this"
        " holds the trace in memory), or when one of --clients is free",
    )
    order: QueueOrder = Field(
        default="elevator", description="order in which the host passes them on"
    )
    faster: float = Field(
        default=1.0, gt=0, le=1e6, description="speed of arrival relative to the trace"
    )
    clients: int = Field(default=1, ge=1, le=1_000_000, description="of --issue population")
    think_ms: float = Field(default=0.0, ge=0, le=1e9, description="think time of each client, ms")
    wrap: bool = Field(
        default=False, description="wrap requests beyond the drive's end to its beginning"
    )
    sector_bytes: int = Field(default=512, ge=1, le=1 << 20, description="of a sector of the drive")

    @model_validator(mode="after")
    def _of_its_issue_model(self) -> Self:
        """Refuse options that the chosen issue model would ignore."""
        others = ("faster",) if self.issue == "population" else ("clients", "think_ms")
        for name in others:
            if getattr(self, name) != type(self).model_fields[name].default:
                of = "open or dependent" if name == "faster" else "population"
                raise ValueError(f"{name}: expected issue to be {of}; found {self.issue}")
        return self


class AttachedOptions(Strict):
    """Systems that serve files: a server with disks, and disks on the network."""

    disks: int = Field(
        default=16, ge=1, le=10_000, description="disks over which files are striped"
    )
    manager_mips: float = Field(default=50, ge=1e-3, le=1e9, description="of the file manager")
    manager_cache_mb: int = Field(
        default=128, ge=0, le=1 << 20, description="of a server's file manager, MB"
    )
    disk_mips: float = Field(default=25, ge=1e-3, le=1e9, description="of each disk on the network")
    disk_cache_mb: int = Field(
        default=32, ge=0, le=1 << 20, description="of each disk on the network, MB"
    )
    costs: CostsName = Field(default="paper", description="costs of steps: of 1998, or of today")
    drive: str = Field(
        default="", description="drive of each disk: a name, or a file; else as costs say"
    )
    requests: int = Field(default=1_000_000, ge=1, le=10**12, description="most requests to serve")
    warm_up: int = Field(
        default=0, ge=0, le=10**12, description="requests before them that only fill the caches"
    )
    seed: int = Field(
        default=1, ge=0, le=2**53, description="of a synthetic load, and of the positions of files"
    )


class PaperOptions(Strict):
    """Options of running a paper's experiments."""

    paper: PaperNumber = Field(description="number of the paper")
    seeds: int = Field(default=10, ge=1, le=1000, description="runs, each with another seed")
    jobs: int = Field(default=2, ge=1, description="number of runs at a time")


def _date(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError as error:
        reason = {"reason": f"expected a date, as 2001-10-22 ({error})"}
        raise PydanticCustomError("date", "{reason}", reason) from error
    return text


class Generating(Strict):
    """The workload to generate, and its size."""

    name: WorkloadName = Field(description="workload of the thesis to imitate")
    seed: int = Field(ge=0, description="seed of the random numbers: the same gives the same trace")
    start: Annotated[str, AfterValidator(_date)] | None = Field(
        default=None, description="first day, YYYY-MM-DD; default: the Monday of the thesis"
    )
    days: float = Field(default=1.0, gt=0, description="length of the trace, days")
    rate: Rate = 1.0
    format: Format | None = Field(
        default=None, description="what to write; default: by the suffix of the file"
    )
