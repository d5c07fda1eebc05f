"""The service's paths: which scope each needs, what changes the service, and errors of their own.

A path without a scope needs ``read``, or ``publish`` for other methods than `SAFE`.
Handlers are in ``serving.app.routes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from birthmark.serving.access.tokens import Scope

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110 section 9.2.1)."""


@dataclass(frozen=True)
class Access:
    """What a path needs: its scope (None: by method), and what it changes.

    `is_open` paths need no token. `changed_by` is the method that changes the state of the service,
    if one does, and `errors` are the statuses that only this method may answer.
    """

    scope: Scope | None = None
    is_open: bool = False
    changed_by: str | None = None
    errors: frozenset[int] = frozenset()


PATHS: Mapping[str, Access] = {
    "/v1/predictions": Access("predict"),
    "/v1/explanations": Access("predict"),
    "/v1/hints": Access("predict"),
    "/v1/hints/report": Access("report", changed_by="POST", errors=frozenset({409})),
    "/v1/history": Access("follow", changed_by="POST", errors=frozenset({404, 409})),
    "/v1/model": Access(changed_by="PUT", errors=frozenset({404, 409})),
    "/v1/model/image": Access(),
    "/healthz": Access(is_open=True),
    "/readyz": Access(is_open=True),
    "/metrics": Access(),
    "/": Access(),
    "/report": Access(),
    "/day": Access(),
    "/models/{version}": Access(),
    "/audits/{name}": Access(),
}
"""The access of all routes."""

_ANY_OTHER = Access()


def needed(method: str, path: str) -> Scope | None:
    """Return the scope that a request needs; None if it needs no token."""
    found = PATHS.get(path, _ANY_OTHER)
    if found.is_open:
        return None
    return found.scope or ("read" if method in SAFE else "publish")


def changes(method: str, path: str) -> bool:
    """Whether a request changes the state of the service."""
    return PATHS.get(path, _ANY_OTHER).changed_by == method


def own_errors(method: str, path: str) -> frozenset[int]:
    """Return the statuses that requests to other paths do not get."""
    return PATHS[path].errors if changes(method, path) else frozenset()
