"""The service's settings, each declared once: name, default, help."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    model_validator,
)

from birthmark.data.common.choices import meant
from birthmark.data.common.sizes import size
from birthmark.data.settings import Following, Strict
from birthmark.predictor.answers.point import Point
from birthmark.predictor.models.kinds import Kind
from birthmark.predictor.parameters import REGION
from birthmark.serving.address import HOST, PORT

_NAME = re.compile(r"[A-Za-z0-9.:-]+")


def _size(text: str) -> str:
    size(text)
    return text


def names(text: str | None) -> list[str]:
    """Return the names of hosts in a list that is parted by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _names(text: str) -> str:
    for name in names(text):
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"expected names of hosts, without ports, parted by commas, found {name!r}"
            )
    return text


class Settings(Strict):
    """What the service needs to know to run.

    A setting is also an option of ``birthmark serve`` (``poll_seconds``: ``--poll-seconds``) and
    a variable of the environment (``BIRTHMARK_POLL_SECONDS``); the option wins.
    """

    registry: Path | str = Field(
        default="registry", description="directory of trained models, or the URI of an object store"
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
        description="names, parted by commas, that this service is called by besides localhost,"
        " its addresses and --host: called otherwise, it changes nothing",
    )
    model: Kind | None = Field(
        default=None,
        description="kind of model that answers; default: as published",
    )
    point: Point | None = Field(
        default=None, description="threshold of its answers; default: as published"
    )
    region: Annotated[str, AfterValidator(_size)] = Field(
        default=REGION, description="what hints have room for: the region's bytes for data, as 4M"
    )
    history: Path | None = Field(
        default=None,
        description="file of the live history that birthmark follow --history keeps: answers rest"
        " on it",
    )
    history_age: float = Field(
        default=5.0, gt=0, description="age of its last update from which it is not told from, s"
    )
    history_lag: float = Field(
        default=5.0,
        gt=0,
        description="time by which its follower may be behind the traffic to be told from, s",
    )
    history_loss: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="share of the last minutes' traffic that it may lack to be told from",
    )
    receive: bool = Field(
        default=False,
        description="take the live history from a follower on another host (birthmark follow"
        " --send), and keep it in the file of --history",
    )
    history_keys: int = Field(
        default=Following.model_fields["history_keys"].default,
        ge=100,
        description="number of keys of each, files and names, that a history that is received has"
        " room for",
    )
    history_directories: int = Field(
        default=Following.model_fields["history_directories"].default,
        ge=1,
        description="number of directories that it has room for",
    )
    follow: Path | None = Field(
        default=None,
        description="folder, file or pipe to follow: a follower is begun, and begun again when it"
        " fails; needs --followed and --history",
    )
    followed: Path | None = Field(
        default=None, description="directory for the datasets that it makes"
    )
    poll_seconds: float = Field(
        default=1.0, gt=0, description="time between looks for a newly published model, seconds"
    )
    max_body_bytes: int = Field(
        default=16 * 1024 * 1024, ge=1, description="largest request body, bytes"
    )
    log_predictions: Path | None = Field(
        default=None, description="directory to log predictions in, for birthmark audit"
    )
    log_share: float = Field(default=1.0, ge=0, le=1, description="share of requests to log")
    log_mapping: Path | None = Field(
        default=None, description="mapping (birthmark anonymize) that the log is anonymized by"
    )
    log_minutes: float = Field(
        default=5.0, gt=0, description="time until a file of the log is ended, minutes"
    )
    log_days: int = Field(default=30, ge=1, description="how long the log is kept, days")
    log_format: Literal["text", "json"] = Field(
        default="text", description="form of the log's lines"
    )
    log_access: bool = Field(default=False, description="log a line for each request")
    log_names: bool = Field(
        default=False, description="let the log quote requests, and thereby names of files"
    )
    stale_days: float = Field(
        default=3.0, gt=0, description="age from which page and alert warn of the model, days"
    )
    tokens: Path | None = Field(
        default=None, description="file of tokens (birthmark tokens): only who has one may ask"
    )
    allow_open: bool = Field(
        default=False, description="listen to other hosts even without tokens: everybody may ask"
    )
    ssl_certfile: Path | None = Field(
        default=None, description="certificate for HTTPS, with its chain, PEM"
    )
    ssl_keyfile: Path | None = Field(default=None, description="the certificate's private key, PEM")
    workers: int = Field(
        default=1, ge=1, le=256, description="processes that answer, with one socket and one model"
    )
    max_requests: int = Field(
        default=64,
        ge=1,
        description="requests that a worker works on at once, and that wait to be begun",
    )
    max_connections: int = Field(
        default=12_000, ge=1, description="connections that a worker keeps at once"
    )
    queue_seconds: float = Field(
        default=1.0, gt=0, description="time in which a request must be begun, seconds"
    )
    timeout_seconds: float = Field(
        default=30.0, gt=0, description="time to send a request in, and to take an answer, seconds"
    )
    idle_seconds: float = Field(
        default=75.0, gt=0, description="time after which a connection without requests is closed"
    )

    @model_validator(mode="after")
    def _follower(self) -> Self:
        if self.follow and not (self.followed and self.history):
            raise ValueError("follow: expected followed and history, too: where it is to write")
        return self

    @model_validator(mode="after")
    def _received(self) -> Self:
        if self.receive and (self.follow or not self.history):
            raise ValueError("receive: expected history, too, and not follow: one writes it")
        return self

    @model_validator(mode="after")
    def _certificate_and_key(self) -> Self:
        if (self.ssl_certfile is None) != (self.ssl_keyfile is None):
            raise ValueError("ssl_certfile and ssl_keyfile: expected both or none")
        return self


class Listing(Strict):
    """Which rules of a model are listed."""

    top: int = Field(default=50, ge=1, description="number of rules to show")


class TokenFile(Strict):
    """Where the tokens are kept."""

    tokens: Path = Field(default=Path("tokens.json"), description="file of the tokens' hashes")


def variable(setting: str) -> str:
    """Return the variable of the environment that holds `setting`."""
    return f"BIRTHMARK_{setting.upper()}"


_OTHERS = (variable("cache"), variable("hintd_"))
"""What variables of registries and of the layout's helper begin with."""


def mistaken(variables: Iterable[str]) -> list[str]:
    """Return a warning for each of `variables` that is named as a setting's and is none."""
    known = [variable(setting) for setting in Settings.model_fields]
    return [
        f"{name}: there is no such setting{meant(name, known)}"
        for name in sorted(variables)
        if name.startswith(variable("")) and name not in known and not name.startswith(_OTHERS)
    ]
