"""Whole HTML pages that are kept in the registry."""

from __future__ import annotations

from birthmark.serving.messages.errors import ApiError, registry_read
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import AUDITS, CARD_HTML, REPORT


@registry_read()
def card(registry: Registry, version: str) -> bytes:
    """Return the card of a version; raise `ApiError` where there is none."""
    try:
        return (registry.directory(version) / CARD_HTML).read_bytes()
    except RegistryError as error:
        raise ApiError("no_version", str(error)) from error
    except FileNotFoundError as error:
        raise ApiError("not_found", f"version {version} has no card") from error


@registry_read()
def report(registry: Registry) -> bytes:
    """Return the newest report on a published model, else the card of the published one."""
    if (kept := registry.read(REPORT)) is not None:
        return kept
    try:
        version = registry.current()
    except RegistryError as error:
        raise ApiError("damaged_version", str(error)) from error
    if version is None:
        raise ApiError("not_found", "nothing was ever published: there is no report")
    return card(registry, version)


@registry_read()
def audit(registry: Registry, name: str) -> bytes:
    """Return the page of an audit; raise `ApiError` where there is none."""
    kept = None
    if f"{name}.html" in registry.names(AUDITS):  # nothing else, whatever is asked for
        kept = registry.read(f"{AUDITS}/{name}.html")
    if kept is None:
        raise ApiError("not_found", f"there is no audit of {name}")
    return kept
