"""The HTTP server in native threads, in front of the application (``native/service``)."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from birthmark.serving.access import tokens
from birthmark.serving.access.paths import PATHS
from birthmark.serving.access.tokens import Token
from birthmark.serving.log import service_log
from birthmark.serving.messages.errors import TYPES
from birthmark.serving.metrics.buckets import SECONDS
from birthmark.serving.models.images import ImageModel
from birthmark.serving.server import tls
from birthmark.serving.server.open_files import allow_files
from birthmark.serving.settings import Settings, names
from birthmark_native import HttpService

if TYPE_CHECKING:  # the front answers before these are imported
    from fastapi import Response

    from birthmark.serving.log.sampling import LogSampler
    from birthmark.serving.service.service import Service

BODIES = 2
"""The byte budget of bodies and answers in transfer, in bodies of the largest size."""

DRAIN_SECONDS = 0.1
"""The interval at which answered requests are taken for the logs."""

_MODELS = 8
"""Models that are remembered for the prediction log: it takes requests seconds after a swap."""


@dataclass(frozen=True)
class Config:
    """The settings of `HttpService`."""

    threads: int
    max_requests: int
    max_connections: int
    max_body_bytes: int
    bodies: int
    queue_seconds: float
    timeout_seconds: float
    idle_seconds: float
    paths: dict[str, tuple[str | None, bool, str | None]]
    known_hosts: list[str]
    with_tokens: bool
    routes: set[str]
    bounds: list[float]
    access_log: bool
    log_share: float | None
    upstream: Path
    no_model: str
    process: str
    certificate: tuple[bytes, bytes] | None


def config(settings: Settings, upstream: Path) -> Config:
    """Return the configuration for an application that listens at a socket, `upstream`."""
    return Config(
        threads=settings.threads,
        max_requests=settings.max_requests,
        max_connections=allow_files(settings.max_connections),
        max_body_bytes=settings.max_body_bytes,
        bodies=BODIES,
        queue_seconds=settings.queue_seconds,
        timeout_seconds=settings.timeout_seconds,
        idle_seconds=settings.idle_seconds,
        paths={
            path: (access.scope, access.is_open, access.changed_by)
            for path, access in PATHS.items()
        },
        known_hosts=[settings.host, *names(settings.known_hosts)],
        with_tokens=settings.tokens is not None,
        routes=set(PATHS),
        bounds=list(SECONDS),
        access_log=settings.log_access,
        log_share=None if settings.log_predictions is None else settings.log_share,
        upstream=upstream,
        no_model=f"no model is loaded from {settings.registry} yet",
        process=secrets.token_hex(6),
        certificate=tls.certificate(settings),
    )


def _pages() -> dict[str, tuple[list[tuple[str, str]], bytes]]:
    """Return the header fields and the page of each type of error that the front may answer."""
    from birthmark.serving.messages import html

    pages = {type: html.error_page(type, status) for type, status in TYPES.items()}
    return {type: (_fields(page), bytes(page.body)) for type, page in pages.items()}


def _fields(page: Response) -> list[tuple[str, str]]:
    """Return the header fields that the front does not set itself."""
    own = ("content-length", "content-type")
    return [field for field in page.headers.items() if field[0] not in own]


class Front:
    """Answers at a listener from models, at first from one; passes other requests to `upstream`.

    Raises ValueError for invalid tokens.
    """

    def __init__(self, settings: Settings, upstream: Path) -> None:
        self._settings = settings
        self._models: OrderedDict[int, ImageModel] = OrderedDict()
        self._number = 0
        self.native = HttpService(config(settings, upstream))
        if settings.tokens is not None:
            self._set_tokens(tokens.read(settings.tokens))
        self._stopped = threading.Event()
        self._drain: threading.Thread | None = None

    def accept(self, listener: socket.socket) -> None:
        """Accept connections; requests for the application wait for `pass_on`."""
        self.native.accept(os.dup(listener.fileno()), listener.family == socket.AF_UNIX)

    def pass_on(self, service: Service) -> None:
        """Answer from the models of a `service`; pass other requests to its application."""
        service.metrics.watch_requests(self.native)
        if service.tokens is not None:
            service.tokens.subscribe(self._set_tokens)
        service.slot.subscribe(self.publish)
        self.native.pass_on(_pages())
        self._drain = threading.Thread(target=self._work, args=(service.log_sampler,), name="front")
        self._drain.start()

    def reload_certificate(self) -> None:
        """Read the certificate again; raise ValueError, and keep the old one, if it is invalid."""
        tls.context(self._settings)
        if (certificate := tls.certificate(self._settings)) is not None:
            self.native.set_certificate(*certificate)

    def stop(self, seconds: float) -> None:
        """Stop accepting connections; wait for the requests that have begun."""
        self.native.stop(seconds)
        self._stopped.set()
        if self._drain is not None:
            self._drain.join()

    def publish(self, model: ImageModel) -> None:
        """Answer from a model from now on."""
        self._number += 1
        self._models[self._number] = model
        while len(self._models) > _MODELS:
            self._models.popitem(last=False)
        hints = model.hints
        self.native.publish(
            self._number,
            model.version,
            model.answerer,
            None if hints is None else (hints.answerer, hints.content, hints.etag),
        )

    def _set_tokens(self, tokens: list[Token] | None) -> None:
        by_hash: dict[bytes, tuple[str, list[str]]] | None = (
            None
            if tokens is None
            else {bytes.fromhex(token.sha256): (token.name, list(token.scopes)) for token in tokens}
        )
        self.native.set_tokens(by_hash)

    def _work(self, sampler: LogSampler) -> None:
        """Pass answered requests to the logs until the end."""
        while not self._stopped.wait(DRAIN_SECONDS):
            self._take(sampler)
        self._take(sampler)

    def _take(self, sampler: LogSampler) -> None:
        service_log.note(self.native.take_lines())
        entries, dropped = self.native.take_log()
        sampler.drop(dropped)
        for number, format, body, answers, verdict, rows, time in entries:
            if (model := self._models.get(number)) is None:
                sampler.drop(rows)
            elif format == "hint":
                sampler.hint(model, body, verdict, time)
            else:
                sampler.predictions(model, format, body, rows, answers, time)
