"""The settings of the nightly run, read from a TOML file.

[traces]
files = ["/var/traces/*.pcap.xz"]   # globs; relative ones start at this file's directory
settle_seconds = 300                # optional; a file changed since may still be growing

[[servers]]                         # any number, besides or in place of traces.files
name = "home1"
files = ["/var/traces/home1/*.pcap.xz"]

[datasets]
directory = "/var/lib/birthmark/datasets"

[registry]
directory = "/var/lib/birthmark/registry"

[training]                          # all optional; the defaults are shown
window_days = 7.0
minfrac = 0.8
mincount = 5
prefix = true
purity = 1.0
trees = 32
rounds = 60
seed = 0
calibration = 0.2
bound = 0.01
false_negative_bound = 0.01
confidence = 0.95
serve = "rules"
point = "bounded"
without_loss = false
margin = 0.0
least_births = 0.1
zone = "UTC"

[audit]                             # optional: without it nothing is audited
log = "/var/lib/birthmark/log"      # where the service logs predictions
tolerance_seconds = 2.0             # how far a prediction and its file's birth may lie apart
match = ["uid", "gid", "client", "dir_name"]  # what must agree where both tell it

[engine]                            # optional; see docs/scale.md
kind = "processes"
workers = 8                         # default: one per core
# kind = "dask"
# scheduler = "tcp://scheduler:8786"

[[predicates]]                      # any number, besides the built-in ones
...                                 # see predictor.predicates.from_config
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from birthmark.data.common.setting_errors import InvalidError, reasons
from birthmark.data.prediction_log import MATCHED, Joining, Matched
from birthmark.predictor import BUILT_IN, Kind, Point, Predicate, TrainedModel, from_config
from birthmark.training.registry.versions import is_remote


class ConfigError(InvalidError):
    """A configuration of the nightly run that cannot be used."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Traces(_Strict):
    """Where new traces appear."""

    files: list[str] = Field(default=[], description="globs of trace files")
    settle_seconds: float = Field(
        default=300, ge=0, description="a file changed within this time may still be growing"
    )


class Server(_Strict):
    """A file server of several, and where its traces appear."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="what datasets call it")
    files: list[str] = Field(min_length=1, description="globs of its trace files")


class Engine(_Strict):
    """Who runs the tasks of a night (``training.engine``)."""

    kind: Literal["processes", "dask"] = "processes"
    workers: int | None = Field(default=None, ge=1, description="processes; default: one a core")
    scheduler: str | None = Field(default=None, description="address of Dask's scheduler")

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        if (self.kind == "dask") != (self.scheduler is not None):
            raise ValueError('scheduler is for the kind "dask", which needs it')
        if self.kind == "dask" and self.workers is not None:
            raise ValueError("the workers of a Dask cluster are those that it has")
        return self


class Directory(_Strict):
    """A directory that the nightly run keeps."""

    directory: Path


class Place(_Strict):
    """A directory that the nightly run keeps, or the URI of an object store."""

    directory: Path | str

    @field_validator("directory")
    @classmethod
    def _directory_unless_uri(cls, place: Path | str) -> Path | str:
        return place if is_remote(place) else Path(place)


class Settings(_Strict):
    """How models are trained and when one replaces another."""

    minfrac: float = Field(default=0.8, ge=0, le=1, description="see predictor.NameModel")
    mincount: int = Field(default=5, ge=0, description="see predictor.NameModel")
    prefix: bool = Field(default=True, description="see predictor.NameModel")
    purity: float = Field(default=1.0, ge=0.5, le=1, description="see predictor.AbleTree")
    trees: int = Field(default=32, ge=1, description="see predictor.ForestModel")
    rounds: int = Field(default=60, ge=0, description="see predictor.ForestModel")
    seed: int = Field(default=0, ge=0, lt=2**32, description="see predictor.ForestModel")
    calibration: float = Field(
        default=0.2,
        ge=0,
        le=0.5,
        description="share of the lives to choose thresholds on at a time",
    )
    bound: float = Field(
        default=0.01, gt=0, lt=1, description="greatest share of all files wrongly said yes of"
    )
    false_negative_bound: float = Field(
        default=0.01, gt=0, lt=1, description="greatest share of all files wrongly said no of"
    )
    confidence: float = Field(default=0.95, gt=0.5, lt=1, description="how surely the bounds hold")
    serve: Kind = Field(default="rules", description="the kind of model that answers")
    point: Point = Field(default="bounded", description="the threshold that answers")
    without_loss: bool = Field(
        default=False, description="leave out lives that loss may have touched"
    )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of ``predictor.TrainedModel`` among them."""
        return self.model_dump(include=set(TrainedModel().parameters))


class Training(Settings):
    """How the nightly run trains, and when a new model replaces the published one."""

    window_days: float = Field(default=7, gt=0, description="how far back to learn from, days")
    margin: float = Field(
        default=0, ge=0, description="how much worse a new model may be, percentage points"
    )
    least_births: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="share of the usual births below which a window, or a candidate, is doubted",
    )
    zone: str = Field(
        default="UTC", description="time zone of the days that models are compared on"
    )

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError("expected a time zone, as Europe/Vienna") from error
        return zone


class Audit(_Strict):
    """Where predictions served are logged, and how they are joined to files."""

    log: Path
    tolerance_seconds: float = Field(
        default=2, gt=0, description="how far a prediction and its file's birth may lie apart"
    )
    match: list[Matched] = Field(
        default=list(MATCHED), description="what must agree where both tell it"
    )

    def joining(self) -> Joining:
        """Return how an audit is to join."""
        return Joining(self.tolerance_seconds, self.match)


class Config(_Strict):
    """Everything in the file."""

    traces: Traces = Traces()
    servers: list[Server] = []
    datasets: Directory
    registry: Place
    training: Training = Training()
    audit: Audit | None = None
    engine: Engine = Engine()
    predicates: list[dict[str, Any]] = []

    @field_validator("registry", mode="before")
    @classmethod
    def _any_place(cls, place: Any) -> Any:
        return place.model_dump() if isinstance(place, Directory) else place

    @model_validator(mode="after")
    def _has_sources(self) -> Self:
        names = [server.name for server in self.servers]
        if len(set(names)) < len(names):
            raise ValueError("servers: expected names that differ")
        if not self.servers and not self.traces.files:
            raise ValueError("expected traces.files or servers: where the traces are")
        return self

    def resolve(self, base: Path) -> Config:
        """Return this configuration with every relative path taken from `base`."""

        def placed(source: Traces | Server) -> Traces | Server:
            globs = [str(base / glob) for glob in source.files]
            return source.model_copy(update={"files": globs})

        audit = self.audit and self.audit.model_copy(update={"log": base / self.audit.log})
        registry = self.registry.directory
        return self.model_copy(
            update={
                "traces": placed(self.traces),
                "servers": [placed(server) for server in self.servers],
                "datasets": Directory(directory=base / self.datasets.directory),
                "registry": Place(directory=registry if is_remote(registry) else base / registry),
                "audit": audit,
            }
        )

    @property
    def globs(self) -> list[str]:
        """The globs of all traces, those of no server first."""
        return [*self.traces.files, *(glob for server in self.servers for glob in server.files)]

    def all_predicates(self) -> dict[str, Predicate]:
        """Return the built-in predicates and the configured ones, by key.

        Raises ValueError where a configured one is wrong, or has another's name.
        """
        predicates = {key: p for key, p in BUILT_IN.items() if p.subject != "directory"}
        for predicate in map(from_config, self.predicates):
            if predicates.setdefault(predicate.key, predicate) is not predicate:
                raise ValueError(f"two predicates have the name {predicate.key!r}")
        return predicates


def read_config(path: Path) -> Config:
    """Read and check the configuration file at `path`; raise `ConfigError` if it is not one.

    Relative paths in it are taken from the directory that it is in.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError([f"{path}: expected a TOML file: {error}"]) from error
    try:
        config = Config.model_validate(table).resolve(path.parent)
        config.all_predicates()
    except ValidationError as error:
        told = reasons(error, Config)
        raise ConfigError([f"{path}: {reason}" for reason in told]) from error
    except ValueError as error:
        raise ConfigError([f"{path}: predicates: {error}"]) from error
    return config
