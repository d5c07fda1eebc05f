"""The settings of the nightly run, read from a TOML file.

docs/administrators.md shows all of it, with the defaults: the tests compare them with the models
below, which alone declare types, defaults and ranges.
"""

from __future__ import annotations

import tomllib
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
from birthmark.data.settings import SendCertificates, SendTo, SendToken, Strict
from birthmark.predictor.answers.point import PROMISED, Point
from birthmark.predictor.models.kinds import BEST, KINDS, Kind, Learning
from birthmark.predictor.parameters import Parameters
from birthmark.training.registry.versions import is_remote

if TYPE_CHECKING:  # options are made of these settings without what learns
    from birthmark.data.prediction_log import Joining
    from birthmark.predictor import Predicate
    from birthmark.predictor.models.estimators.estimator import Estimator


Matched = Literal["uid", "gid", "client", "dir_name"]
"""What a prediction and a life may have to agree in, besides the name, where both tell it."""


_Own = TypeVar("_Own", bound="Own")


class ConfigError(InvalidError):
    """A configuration of the nightly run that cannot be used."""


class Traces(Strict):
    """Where new traces appear."""

    files: list[str] = Field(default=[], description="globs of trace files")
    settle_seconds: float = Field(
        default=300, ge=0, description="a file changed within this time may still be growing"
    )


class Followed(Strict):
    """Where `birthmark follow` writes, if it does."""

    datasets: Path = Field(description="the directory of its datasets")
    source: Path | None = Field(
        default=None,
        description="folder, file or pipe to follow by the unit that `birthmark install` makes",
    )
    send: SendTo = None
    send_token: SendToken = None
    send_certificates: SendCertificates = None

    @model_validator(mode="after")
    def _sent(self) -> Self:
        if self.send and not self.source:
            raise ValueError("send: expected source, too: what is learned of it is sent")
        return self

    def resolve(self, base: Path) -> Followed:
        """Return this with every relative path taken from `base`."""
        paths = {name: own for name, own in self if isinstance(own, Path)}
        return self.model_copy(update={name: base / own for name, own in paths.items()})


class Server(Strict):
    """A file server of several, and where its traces appear."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="what datasets call it")
    files: list[str] = Field(min_length=1, description="globs of its trace files")


class Engine(Strict):
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


LISTED = "rules"
"""The kind of models that lists of suffixes are made of (``layout_hint.f2fs``)."""


class Devices(Strict):
    """File systems of F2FS whose lists of suffixes are those of the published model."""

    devices: list[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]] = Field(
        min_length=1, description="names of their devices, as sda1"
    )


class Datasets(Strict):
    """Where datasets are, and how long they are kept."""

    directory: Path
    keep_days: float | None = Field(
        default=None,
        gt=0,
        description="days after which a dataset, and hours that were followed, are removed;"
        " default: never",
    )


class Place(Strict):
    """A directory that the nightly run keeps, or the URI of an object store."""

    directory: Path | str
    keep_versions: int | None = Field(
        default=None,
        ge=1,
        description="number of the newest versions that are kept; default: all",
    )

    @field_validator("directory")
    @classmethod
    def _directory_unless_uri(cls, place: Path | str) -> Path | str:
        return place if is_remote(place) else Path(place)


class Settings(Parameters):
    """How models are trained, and which of them answers."""

    serve: Kind = Field(
        default=BEST,
        description="kind of model that answers; best: for each predicate, and for whatever is told"
        " of a file, the one that errs least on files held out",
    )
    point: Point = Field(
        default=PROMISED, description="threshold of its answers: bounded, or the most accurate"
    )
    without_loss: bool = Field(
        default=False, description="leave out files that lost messages may have touched"
    )

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the models among them."""
        return self.model_dump(include=set(Parameters.model_fields))

    @property
    def trained(self) -> tuple[str, ...]:
        """The kinds of models to train: all of them, so that they can be compared."""
        return tuple(KINDS)


class Training(Settings):
    """How the nightly run trains, and when a new model replaces the published one."""

    kinds: list[Learning] | None = Field(
        default=None,
        min_length=1,
        description="kinds of models to train; default: those that may answer, which are serve, or"
        " all of them where that is best",
    )
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

    @model_validator(mode="after")
    def _may_answer(self) -> Self:
        if self.kinds is None:
            return self
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError("kinds: expected each once")
        if self.serve == BEST and len(self.kinds) == 1:
            raise ValueError(f'kinds: expected several for serve = "{BEST}", which is made of them')
        if self.serve != BEST and self.serve not in self.kinds:
            raise ValueError(f'kinds: expected "{self.serve}" among them, which is to answer')
        return self

    @property
    def trained(self) -> tuple[str, ...]:
        """The kinds of models to train: those named, or all that may answer."""
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


class Testing(Strict):
    """Whether a model that is trained alone is tested."""

    test: bool = Field(
        default=True,
        description="first train on all but the newest files, and test on those for the card",
    )


class Windows(Strict):
    """How far back to learn from is compared."""

    lengths: list[Annotated[int, Field(ge=1)]] = Field(
        default=[1, 3, 7, 30], description="length of a window, days; may be repeated"
    )


class Account(Strict):
    """Who a system runs the service and the nightly run as."""

    user: str = Field(default="birthmark", description="user to run as, with that user's group")


class Examined(Account):
    """What `birthmark doctor` examines besides what the nightly run's configuration names."""

    service: bool = Field(default=True, description="whether there is a service")
    units: Path = Field(
        default=Path("/etc/systemd/system"), description="directory of systemd's units"
    )


class Keeping(Strict):
    """Which versions stay when old ones are removed."""

    keep: int = Field(ge=1, description="number of the newest versions to keep")


class Matching(Strict):
    """How predictions served are joined to the files that they were about."""

    tolerance_seconds: float = Field(
        default=2, gt=0, description="longest time between a prediction and its file's birth, s"
    )
    match: list[Matched] = Field(
        default=list(get_args(Matched)),
        description="columns that must be equal where both have them; may be repeated",
    )

    def joining(self) -> Joining:
        """Return how an audit is to join."""
        from birthmark.data.prediction_log import Joining  # slow to import

        return Joining(self.tolerance_seconds, self.match)


class Audit(Matching):
    """Where predictions served are logged, and how they are joined to files."""

    log: Path


class Own(Strict):
    """Questions and estimators of the user's, besides those that are built in."""

    predicates: list[dict[str, Any]] = Field(default=[])
    estimators: list[dict[str, Any]] = Field(default=[])

    def all_predicates(self) -> dict[str, Predicate]:
        """Return the built-in predicates and the configured ones, by key.

        Raises ValueError where a configured one is wrong, or has another's name.
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

        Raises ValueError where one is wrong, or has another's word.
        """
        from birthmark.predictor.models.estimators.estimator import from_config

        estimators: dict[str, Estimator] = {}
        for estimator in map(from_config, self.estimators):
            estimator.made()  # which is to fail now, and not in the middle of a night
            if estimators.setdefault(estimator.kind, estimator) is not estimator:
                raise ValueError(f"two estimators are of the kind {estimator.kind!r}")
        return estimators


class Config(Own):
    """Everything in the file."""

    traces: Traces = Traces()
    servers: list[Server] = Field(default=[])
    follow: Followed | None = None
    datasets: Datasets
    registry: Place
    training: Training = Training()
    audit: Audit | None = None
    engine: Engine = Engine()
    f2fs: Devices | None = None

    @model_validator(mode="after")
    def _learns_lists(self) -> Self:
        if self.f2fs is not None and LISTED not in self.training.trained:
            raise ValueError(
                f'training.kinds: expected "{LISTED}", too, of which lists for f2fs are made'
            )
        return self

    @model_validator(mode="after")
    def _has_sources(self) -> Self:
        names = [server.name for server in self.servers]
        if len(set(names)) < len(names):
            raise ValueError("servers: expected names that differ")
        kept = self.datasets.keep_days
        if kept is not None and kept < self.training.window_days:
            raise ValueError("datasets.keep_days: expected no less than training.window_days")
        if not self.servers and not self.traces.files and not self.follow:
            raise ValueError("expected traces.files, servers or follow: where the traces are")
        return self

    def resolve(self, base: Path) -> Config:
        """Return this configuration with every relative path taken from `base`."""

        def placed(source: Traces | Server) -> Traces | Server:
            globs = [str(base / glob) for glob in source.files]
            return source.model_copy(update={"files": globs})

        audit = self.audit and self.audit.model_copy(update={"log": base / self.audit.log})
        follow = self.follow and self.follow.resolve(base)
        registry = self.registry.directory
        return self.model_copy(
            update={
                "traces": placed(self.traces),
                "servers": [placed(server) for server in self.servers],
                "follow": follow,
                "datasets": self.datasets.model_copy(
                    update={"directory": base / self.datasets.directory}
                ),
                "registry": self.registry.model_copy(
                    update={"directory": registry if is_remote(registry) else base / registry}
                ),
                "audit": audit,
            }
        )

    @property
    def globs(self) -> list[str]:
        """The globs of all traces, those of no server first."""
        return [*self.traces.files, *(glob for server in self.servers for glob in server.files)]


def read_config(path: Path) -> Config:
    """Read and check the configuration file at `path`; raise `ConfigError` if it is not one.

    Relative paths in it are taken from the directory that it is in.
    """
    return _read(path, Config).resolve(path.parent)


def read_own(path: Path) -> Own:
    """Read the user's own of a configuration, or of a file that has nothing else.

    Raises `ConfigError` as `read_config`.
    """
    try:
        whole = {"datasets", "registry"} & tomllib.loads(path.read_text(encoding="utf-8")).keys()
    except (OSError, ValueError):
        whole = set()  # what is wrong is said by who reads it next
    return read_config(path) if whole else _read(path, Own)


def _read(path: Path, model: type[_Own]) -> _Own:
    try:
        found = read_toml(path, model)
        for name, every in (
            ("predicates", found.all_predicates),
            ("estimators", found.all_estimators),
        ):
            try:
                every()
            except ValueError as error:
                raise ConfigError([f"{path}: {name}: {error}"]) from error
    except OSError as error:
        raise ConfigError([f"{path}: expected a TOML file: {error}"]) from error
    except InvalidError as error:
        raise ConfigError(error.reasons) from error
    return found
