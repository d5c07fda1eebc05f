"""The service's settings, each declared once with name, default and help."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    model_validator,
)

from birthmark.data.common.choices import did_you_mean
from birthmark.data.common.sizes import size
from birthmark.data.settings import Following, Strict
from birthmark.predictor.answers.point import Point
from birthmark.predictor.models.kinds import Kind
from birthmark.predictor.parameters import REGION
from birthmark.serving.address import HOST, PORT
from birthmark.training.registry.versions import Place

_NAME = re.compile(r"[A-Za-z0-9.:-]+")


def _size(text: str) -> str:
    size(text)
    return text


def names(text: str | None) -> list[str]:
    """Return the host names in a comma-separated list."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _names(text: str) -> str:
    for name in names(text):
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"expected host names without ports, separated by commas, found {name!r}"
            )
    return text


OLD = {"workers": "threads"}
"""Old names of settings, which are valid during this release."""


class Settings(Strict):
    """The settings of the service.

    A setting is also an option of ``birthmark serve`` (``poll_seconds``: ``--poll-seconds``) and
    a variable of the environment (``BIRTHMARK_POLL_SECONDS``), and a key of the section ``serve``
    in a site's configuration file. The option wins, then the variable.
    """

    registry: Place = Field(
        default=Path("registry"),
        description="directory of trained models, or the URI of an object store",
    )
    host: Annotated[str, StringConstraints(min_length=1)] = Field(
        default=HOST, description="address to listen at"
    )
    port: int = Field(default=PORT, ge=0, le=65535, description="port; 0 takes a free one")
    uds: Path | None = Field(
        default=None, description="Unix socket to listen at, instead of a host and port"
    )
    known_hosts: Annotated[str, AfterValidator(_names)] | None = Field(
        default=None,
        description="host names, separated by commas, for requests that change something, besides"
        " localhost, its addresses and --host",
    )
    model: Kind | None = Field(
        default=None,
        description="kind of model that answers; default: as published",
    )
    point: Point | None = Field(
        default=None, description="operating point of its answers; default: as published"
    )
    region: Annotated[str, AfterValidator(_size)] = Field(
        default=REGION, description="data capacity of the region for hinted files, as 4M"
    )
    history: Path | None = Field(
        default=None,
        description="file of the live history that birthmark follow --history writes, used for"
        " answers",
    )
    history_age: float = Field(
        default=5.0,
        gt=0,
        description="seconds after which the live history counts as stale",
    )
    history_lag: float = Field(
        default=5.0,
        gt=0,
        description="greatest lag of the follower behind the traffic, in seconds",
    )
    history_loss: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="greatest share of the last minutes' traffic that the live history may lack",
    )
    receive: bool = Field(
        default=False,
        description="receive the live history from a follower on another host (birthmark follow"
        " --send), into the file of --history",
    )
    history_keys: int = Field(
        default=Following.model_fields["history_keys"].default,
        ge=100,
        description="capacity of a received history: keys of files, and as many of names",
    )
    history_directories: int = Field(
        default=Following.model_fields["history_directories"].default,
        ge=1,
        description="capacity of a received history: directories",
    )
    follow: Path | None = Field(
        default=None,
        description="source of traffic for a follower that the service runs and restarts: a folder,"
        " file or pipe; needs --followed and --history",
    )
    followed: Path | None = Field(default=None, description="directory for the follower's datasets")
    poll_seconds: float = Field(
        default=1.0, gt=0, description="polling interval for a newly published model, seconds"
    )
    max_body_bytes: int = Field(
        default=16 * 1024 * 1024, ge=1, description="largest request body, bytes"
    )
    log_predictions: Path | None = Field(
        default=None, description="directory to log predictions in, for birthmark audit"
    )
    log_share: float = Field(default=1.0, ge=0, le=1, description="share of requests to log")
    log_mapping: Path | None = Field(
        default=None, description="mapping (birthmark anonymize) to anonymize the log with"
    )
    log_minutes: float = Field(
        default=5.0, gt=0, description="greatest duration of one file of the log, minutes"
    )
    log_days: int = Field(default=30, ge=1, description="retention of the log, days")
    log_format: Literal["text", "json"] = Field(
        default="text", description="format of the log's lines"
    )
    log_access: bool = Field(default=False, description="log a line for each request")
    log_names: bool = Field(
        default=False, description="allow file names, from requests, in the log"
    )
    stale_days: float = Field(
        default=3.0, gt=0, description="age after which page and alert warn of the model, days"
    )
    tokens: Path | None = Field(
        default=None, description="file of tokens (birthmark tokens): requests need one"
    )
    allow_open: bool = Field(
        default=False, description="allow requests from other hosts without tokens"
    )
    ssl_certfile: Path | None = Field(
        default=None, description="certificate for HTTPS, with its chain, PEM"
    )
    ssl_keyfile: Path | None = Field(default=None, description="the certificate's private key, PEM")
    threads: int = Field(default=1, ge=1, le=256, description="threads that answer, of one process")
    max_requests: int = Field(
        default=64,
        ge=1,
        description="concurrent requests, and as many queued ones of an address",
    )
    max_connections: int = Field(default=12_000, ge=1, description="concurrent connections")
    queue_seconds: float = Field(
        default=1.0, gt=0, description="longest time that a request is queued, seconds"
    )
    timeout_seconds: float = Field(
        default=30.0, gt=0, description="time to send a request, and to read an answer, seconds"
    )
    idle_seconds: float = Field(
        default=75.0, gt=0, description="time after which an idle connection is closed, seconds"
    )

    @model_validator(mode="before")
    @classmethod
    def _old_names(cls, values: Any) -> Any:
        """Take settings by their old names, too."""
        if not isinstance(values, dict):
            return values
        return {OLD.get(name, name): value for name, value in values.items()}

    @model_validator(mode="after")
    def _follower(self) -> Self:
        if self.follow and not (self.followed and self.history):
            raise ValueError("follow: expected followed and history, too, for its output")
        return self

    @model_validator(mode="after")
    def _received(self) -> Self:
        if self.receive and (self.follow or not self.history):
            raise ValueError("receive: expected history, too, and not follow, which also writes it")
        return self

    @model_validator(mode="after")
    def _certificate_and_key(self) -> Self:
        if (self.ssl_certfile is None) != (self.ssl_keyfile is None):
            raise ValueError("ssl_certfile and ssl_keyfile: expected both or none")
        return self


class Listing(Strict):
    """The settings of a list of rules."""

    top: int = Field(default=50, ge=1, description="number of rules to show")


class TokenFile(Strict):
    """The setting for the file of tokens."""

    tokens: Path = Field(default=Path("tokens.json"), description="file of the tokens' hashes")


def variable(setting: str) -> str:
    """Return the environment variable of a `setting`."""
    return f"BIRTHMARK_{setting.upper()}"


_OTHERS = (variable("cache"), variable("config"), variable("hintd_"))
"""Prefixes of environment variables that are no settings of the service."""


def mistaken(variables: Iterable[str]) -> list[str]:
    """Return a warning for each of `variables` with our prefix that is not a setting."""
    known = [variable(setting) for setting in (*Settings.model_fields, *OLD)]
    return [
        f"{name}: there is no such setting{did_you_mean(name, known)}"
        for name in sorted(variables)
        if name.startswith(variable("")) and name not in known and not name.startswith(_OTHERS)
    ]
