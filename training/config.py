"""The settings of the nightly run: sections of a site's configuration file, in TOML.

The models below declare types, defaults and ranges. docs/administrators.md shows the whole file
with the defaults; the tests compare them. `birthmark.site_file` adds the service's section.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    Field,
    field_validator,
    model_validator,
)

from birthmark.data.common.setting_errors import InvalidError
from birthmark.data.common.setting_files import read_toml
from birthmark.data.settings import Following, Strict
from birthmark.predictor.answers.point import BOUNDED, Point
from birthmark.predictor.models.kinds import BEST, KINDS, Kind, Learning
from birthmark.predictor.parameters import Parameters
from birthmark.training.registry.versions import Place

if TYPE_CHECKING:  # options import these settings without the models
    from birthmark.data.prediction_log import Joining
    from birthmark.predictor import Predicate
    from birthmark.predictor.models.estimators.estimator import Estimator


Matched = Literal["uid", "gid", "client", "dir_name"]
"""Columns besides the name in which a prediction and a life can be required to agree."""


_File = TypeVar("_File", bound="Sections")


class ConfigError(InvalidError):
    """A configuration file that cannot be used."""


class Globs(Strict):
    """Patterns of trace files."""

    files: list[str]

    def resolve(self, base: Path) -> Self:
        """Return these settings with relative patterns resolved against `base`."""
        return self.model_copy(update={"files": [str(base / glob) for glob in self.files]})


class Traces(Globs):
    """The source of new traces."""

    files: list[str] = Field(default=[], description="globs of trace files")
    settle_seconds: float = Field(
        default=300,
        ge=0,
        description="time since the last change after which a file is complete, s",
    )


class Followed(Following):
    """The follower: its input, its output, and the settings of `birthmark follow`."""

    datasets: Path = Field(description="directory of its datasets")
    source: Path | None = Field(default=None, description="folder, file or pipe to follow")
    status: Path | None = Field(
        default=None, description="JSON file for the lag and counts, updated every second"
    )
    registry: Place | None = Field(
        default=None, description="registry of the model to take history from, and to control"
    )

    @model_validator(mode="after")
    def _sent(self) -> Self:
        if self.send and not (self.source or self.history):
            raise ValueError("send: expected source or history, too: its live history is sent")
        return self


class Server(Globs):
    """One of several file servers, and the source of its traces."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="its name in datasets")
    files: list[str] = Field(min_length=1, description="globs of its trace files")


class Engine(Strict):
    """The engine that runs the tasks of a night (``training.engine``)."""

    kind: Literal["processes", "dask"] = "processes"
    workers: int | None = Field(
        default=None, ge=1, description="number of processes; default: one per core"
    )
    scheduler: str | None = Field(default=None, description="address of Dask's scheduler")

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        if (self.kind == "dask") != (self.scheduler is not None):
            raise ValueError('expected scheduler if, and only if, the kind is "dask"')
        if self.kind == "dask" and self.workers is not None:
            raise ValueError("expected no workers: a Dask cluster has its own")
        return self


LISTED = "rules"
"""The model type from which lists of suffixes are derived (``layout_hint.f2fs``)."""


class Devices(Strict):
    """F2FS file systems that take their lists of suffixes from the published model."""

    devices: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]] = Field(
        min_length=1, description="names of the devices, as sda1"
    )


class Datasets(Strict):
    """The directory of datasets, and their retention."""

    directory: Path
    keep_days: float | None = Field(
        default=None,
        gt=0,
        description="days after which datasets and followed hours are removed; default: never",
    )


class RegistryConfig(Strict):
    """The registry: a directory or the URI of an object store."""

    directory: Place
    keep_versions: int | None = Field(
        default=None,
        ge=1,
        description="number of the newest versions to keep; default: all",
    )


class Settings(Parameters):
    """Parameters of training, and the choice of the model that answers."""

    serve: Kind = Field(
        default=BEST,
        description="type of model that answers; best: the one with fewest errors on held-out"
        " files, per predicate and history scope",
    )
    point: Point = Field(
        default=BOUNDED, description="operating point: bounded error, or greatest accuracy"
    )
    without_loss: bool = Field(
        default=False, description="leave out files that lost messages may have affected"
    )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the models."""
        return self.model_dump(include=set(Parameters.model_fields))

    @property
    def trained(self) -> tuple[str, ...]:
        """The types of models to train: all, for comparison."""
        return tuple(KINDS)


class Training(Settings):
    """Training in the nightly run, and replacement of the published model."""

    kinds: list[Learning] | None = Field(
        default=None,
        min_length=1,
        description="types of models to train; default: those that may answer",
    )
    window_days: float = Field(
        default=7, gt=0, description="length of the training window, in days"
    )
    margin: float = Field(
        default=0, ge=0, description="tolerated loss of accuracy of a new model, percentage points"
    )
    least_births: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="share of the usual births below which a window or candidate is suspect",
    )
    zone: str = Field(
        default="UTC", description="time zone of the days on which models are compared"
    )

    @model_validator(mode="after")
    def _may_answer(self) -> Self:
        if self.kinds is None:
            return self
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError("kinds: expected no duplicates")
        if self.serve == BEST and len(self.kinds) == 1:
            raise ValueError(f'kinds: expected two or more for serve = "{BEST}"')
        if self.serve != BEST and self.serve not in self.kinds:
            raise ValueError(f'kinds: expected "{self.serve}", the value of serve, among them')
        return self

    @property
    def trained(self) -> tuple[str, ...]:
        """The types of models to train: those configured, or all that may answer."""
        if self.kinds is not None:
            return tuple(kind for kind in KINDS if kind in self.kinds)
        return tuple(KINDS) if self.serve == BEST else (self.serve,)

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError("expected a time zone, as Europe/Vienna") from error
        return zone


class DayPage(Strict):
    """The page that the nightly run writes about each day."""

    enabled: bool = Field(default=True, description="write a page about each day, day.html")
    what_if: Path | None = Field(
        default=None,
        description="TOML file of server variants to compare on each day (birthmark storage"
        " what-if --config); default: none",
    )


class Testing(Strict):
    """Testing of a model trained by `birthmark train`."""

    test: bool = Field(
        default=True,
        description="test on the newest files first, and put the result on the card",
    )


class Windows(Strict):
    """Training windows to compare."""

    lengths: list[Annotated[int, Field(ge=1)]] = Field(
        default=[1, 3, 7, 30], description="length of a training window, in days; may be repeated"
    )


class Account(Strict):
    """The user that the service and the nightly run run as."""

    user: str = Field(default="birthmark", description="user to run as, with that user's group")


class Examined(Account):
    """Settings of `birthmark doctor` beyond the site's configuration."""

    service: bool = Field(default=True, description="check the service, too")
    units: Path = Field(
        default=Path("/etc/systemd/system"), description="directory of systemd's units"
    )


class Keeping(Strict):
    """Retention of versions."""

    keep: int = Field(ge=1, description="number of the newest versions to keep")


class Matching(Strict):
    """Joining of served predictions to their files."""

    tolerance_seconds: float = Field(
        default=2, gt=0, description="longest time between a prediction and its file's birth, s"
    )
    match: list[Matched] = Field(
        default=list(get_args(Matched)),
        description="column that must agree where both have it; may be repeated",
    )

    def joining(self) -> Joining:
        """Return the parameters of an audit's join."""
        from birthmark.data.prediction_log import Joining  # slow to import

        return Joining(self.tolerance_seconds, self.match)


class Audit(Matching):
    """The log of served predictions, and how they are joined to files."""

    log: Path


class UserExtensions(Strict):
    """Predicates and estimators of the user, besides the built-in ones."""

    predicates: list[dict[str, Any]] = Field(default=[])
    estimators: list[dict[str, Any]] = Field(default=[])

    def all_predicates(self) -> dict[str, Predicate]:
        """Return the built-in predicates and the configured ones, by key.

        Raises ValueError if a configured one is invalid, or has the name of another.
        """
        from birthmark.predictor.predicates import BUILT_IN, check, from_config

        predicates = {key: p for key, p in BUILT_IN.items() if p.subject != "directory"}
        for predicate in map(from_config, self.predicates):
            check(predicate)
            if predicates.setdefault(predicate.key, predicate) is not predicate:
                raise ValueError(f"two predicates have the name {predicate.key!r}")
        return predicates

    def all_estimators(self) -> dict[str, Estimator]:
        """Return the configured estimators, by kind.

        Raises ValueError if one is invalid, or has the kind of another.
        """
        from birthmark.predictor.models.estimators.estimator import from_config

        estimators: dict[str, Estimator] = {}
        for estimator in map(from_config, self.estimators):
            estimator.made()  # fail now, not in the middle of a night
            if estimators.setdefault(estimator.kind, estimator) is not estimator:
                raise ValueError(f"two estimators are of the kind {estimator.kind!r}")
        return estimators


class Sections(UserExtensions):
    """The sections of a configuration file; a command may need only some of them."""

    traces: Traces = Traces()
    servers: list[Server] = Field(default=[])
    follow: Followed | None = None
    datasets: Datasets | None = None
    registry: RegistryConfig | None = None
    training: Training = Training()
    audit: Audit | None = None
    day_page: DayPage = DayPage()
    engine: Engine = Engine()
    f2fs: Devices | None = None

    @model_validator(mode="after")
    def _learns_lists(self) -> Self:
        if self.f2fs is not None and LISTED not in self.training.trained:
            raise ValueError(
                f'training.kinds: expected "{LISTED}", too: f2fs derives its lists from it'
            )
        return self


class Config(Sections):
    """A configuration file with the sections that the nightly run needs."""

    datasets: Datasets
    registry: RegistryConfig

    @model_validator(mode="after")
    def _has_sources(self) -> Self:
        names = [server.name for server in self.servers]
        if len(set(names)) < len(names):
            raise ValueError("servers: expected distinct names")
        keep_days = self.datasets.keep_days
        if keep_days is not None and keep_days < self.training.window_days:
            raise ValueError("datasets.keep_days: expected no less than training.window_days")
        if not self.servers and not self.traces.files and not self.follow:
            raise ValueError("expected a source of traces: traces.files, servers or follow")
        return self

    @property
    def globs(self) -> list[str]:
        """The globs of all traces, those without a server first."""
        return [*self.traces.files, *(glob for server in self.servers for glob in server.files)]


def read_sections(path: Path, model: type[_File]) -> _File:
    """Read and check the configuration file at `path`; raise `ConfigError` if it is not one.

    Relative paths are resolved against its directory. No code of the user is imported.
    """
    try:
        return read_toml(path, model).resolve(path.parent)
    except OSError as error:
        raise ConfigError([f"{path}: expected a TOML file: {error}"]) from error
    except InvalidError as error:
        raise ConfigError(error.reasons) from error


def read_config(path: Path, model: type[_File] = Config) -> _File:  # type: ignore[assignment]
    """Read the configuration file at `path` as `read_sections`, and check the user's extensions."""
    found = read_sections(path, model)
    for name, every in (
        ("predicates", found.all_predicates),
        ("estimators", found.all_estimators),
    ):
        try:
            every()
        except ValueError as error:
            raise ConfigError([f"{path}: {name}: {error}"]) from error
    return found
