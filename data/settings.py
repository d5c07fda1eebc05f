"""The settings of commands on traces: types, defaults, ranges and vocabularies.

They are declared here only. Commands derive their options from these models, and library functions
their defaults.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

KEYS = "server, client, user, group, file, directory"
"""The keys that can distinguish rows of counts, in the words of commands."""

Source = Literal["trace", "operations"]
"""What `birthmark dump` prints."""

Order = Literal["ops", "cost", "bytes"]
"""The order of the busiest: operations, the thesis's cost (6.2), or bytes moved."""

TopKey = Literal["user", "client", "directory", "file"]
"""The keys of `birthmark top`."""

Ranked = Literal["ops", "bytes", "read", "written", "latency", "errors"]
"""The order of `birthmark top`: operations, bytes, bytes read or written, latency, or errors."""

Measure = Literal["ops", "read", "written", "errors", "latency"]
"""The measures of a plot of counts."""

WorkloadName = Literal["campus", "deas03", "eecs03"]
WORKLOADS: tuple[WorkloadName, ...] = get_args(WorkloadName)
"""The names of the workloads that can be generated."""


class Strict(BaseModel):
    """A model that refuses undeclared members, and is immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def resolve(self, base: Path) -> Self:
        """Return these settings with relative paths resolved against `base`, and those within."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return self.model_copy(update={name: _resolved(own, base) for name, own in given.items()})


def _resolved(value: Any, base: Path) -> Any:
    if isinstance(value, list):
        return [_resolved(each, base) for each in value]
    if isinstance(value, Strict):
        return value.resolve(base)
    return base / value if isinstance(value, Path) else value


class Printing(Strict):
    """The output of `birthmark dump`."""

    source: Source = Field(
        default="trace", description="what is read: a trace, or operations in Parquet"
    )


class Counting(Strict):
    """The counts of `birthmark scan`: by default the thesis's (3.6.2)."""

    period: str = Field(default="5m", description="length of a period, as 30s, 5m, 1h or 1d")
    by: str = Field(
        default="none", description=f"keys to group by, separated by commas: {KEYS}; or none"
    )
    ops: str = Field(
        default="read,write,lookup,getattr,access,create,remove",
        description="operations to count apart, separated by commas; or all",
    )
    client: str = Field(default="", description="count only these clients, separated by commas")
    user: str = Field(default="", description="count only these users, separated by commas")
    group: str = Field(default="", description="count only these groups, separated by commas")


class Output(Strict):
    """The output of commands that write a table of counts."""

    out: str = Field(
        default="-", description="table to write: FILE.parquet, .csv or .txt; - is CSV on stdout"
    )


class Busiest(Strict):
    """The number and order of the busiest shown."""

    by: str = Field(default="client", description=f"keys, separated by commas: {KEYS}; or none")
    count: int = Field(default=10, ge=1, description="number of rows to show")
    order: Order = Field(
        default="ops",
        description="sort by operations, by work of disks, or by bytes moved",
    )


class Plot(Strict):
    """The contents of a plot of counts."""

    measure: Measure = Field(
        default="ops",
        description="operations, MB read, MB written or errors per second; or mean latency",
    )
    by: str | None = Field(
        default=None, description="draw one line for each value of this key, as user; or op"
    )
    lines: int = Field(
        default=4, ge=1, description="number of the busiest values with a line of their own"
    )
    overlay: str | None = Field(
        default=None, description="lay stretches of this length over each other, as 1d"
    )
    zone: str = Field(default="UTC", description="time zone of the axis, as Europe/Paris")
    title: str = Field(default="", description="title of the plot")


class Watching(Strict):
    """The contents and refresh rate of `birthmark top`."""

    by: TopKey = Field(default="user", description="key whose busiest values are shown first")
    order: Ranked = Field(
        default="ops",
        description="sort by operations, bytes moved, read or written, mean latency, or errors",
    )
    count: int = Field(default=10, ge=1, description="number of rows where no screen limits them")
    window: str = Field(
        default="10s", description="live, how far back to count, as 10s, 1m or 5m; all: the start"
    )
    every: float = Field(
        default=1.0, ge=0.2, le=3600, description="seconds between updates of the display, if live"
    )
    pace: float | None = Field(
        default=None, gt=0, description="play traces, at this multiple of their speed"
    )
    passwd: Path | None = Field(
        default=None,
        description="file of users' names, as /etc/passwd or lines of a number and a name;"
        " default: numbers are shown",
    )
    client: str = Field(default="", description="count only these clients, separated by commas")
    user: str = Field(default="", description="count only these users, separated by commas")
    group: str = Field(default="", description="count only these groups, separated by commas")

    def counting(self) -> Counting:
        """Return the settings of the counts."""
        return Counting(client=self.client, user=self.user, group=self.group)


class Drawing(Strict):
    """The source of a new mapping's pseudonyms."""

    seed: int | None = Field(
        default=None,
        ge=0,
        description="for examples alone: draw a new mapping from this seed, as anybody can",
    )


class Following(Strict):
    """The settings of `birthmark follow`."""

    hour_seconds: int = Field(
        default=3600, ge=1, description="length of the period of a dataset, s"
    )
    warm_seconds: float = Field(
        default=900,
        ge=0,
        description="how much earlier input is read again after a restart, s",
    )
    memory: int = Field(default=800, ge=64, description="memory for the state of the traffic, MB")
    max_live: int = Field(
        default=200_000, ge=1, description="number of lives in memory; the rest are on disk"
    )
    until_idle: float | None = Field(
        default=None, gt=0, description="end after this time without input, s; default: never"
    )
    history: Path | None = Field(
        default=None,
        description="file to keep the live history in, for birthmark serve --history;"
        " best on tmpfs",
    )
    history_keys: int = Field(
        default=300_000,
        ge=100,
        description="number of keys of each, files and names, that the live history has room for",
    )
    history_births: int = Field(
        default=150_000,
        ge=1,
        description="number of births of each whose outcomes the live history waits for",
    )
    history_directories: int = Field(
        default=50_000,
        ge=1,
        description="number of directories that it knows by handle, inode and path",
    )
    control: bool = Field(
        default=True,
        description="adjust the published model's thresholds by observed outcomes;"
        " needs a history and a registry",
    )
    refresh: bool = Field(
        default=True,
        description="refresh the published model from the latest births; needs control",
    )
    send: str | None = Field(
        default=None,
        description="service on another host that receives the live history, as"
        " https://HOST:8325; needs --history",
    )
    send_token: Path | None = Field(
        default=None, description="file with the token for that service, of scope follow"
    )
    send_certificates: Path | None = Field(
        default=None,
        description="certificates to trust it by, PEM; default: those that the system trusts",
    )

    @property
    def memory_bytes(self) -> int:
        """The memory for the state of the traffic, in bytes."""
        return self.memory << 20

    @model_validator(mode="after")
    def _sent(self) -> Self:
        if self.send and not self.history:
            raise ValueError("send: expected history, too, which is what is sent")
        return self
