"""The HTML pages that are stored in the registry."""

from __future__ import annotations

from birthmark.serving.messages.errors import ApiError, registry_read
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import AUDITS, CARD_HTML, DAY_HTML, REPORT


@registry_read()
def card(registry: Registry, version: str) -> bytes:
    """Return the card of a version; raise `ApiError` if there is none."""
    try:
        return (registry.directory(version) / CARD_HTML).read_bytes()
    except RegistryError as error:
        raise ApiError("no_version", str(error)) from error
    except FileNotFoundError as error:
        raise ApiError("not_found", f"version {version} has no card") from error


@registry_read()
def report(registry: Registry) -> bytes:
    """Return the newest training report, else the card of the published version."""
    if (page := registry.read(REPORT)) is not None:
        return page
    try:
        version = registry.current()
    except RegistryError as error:
        raise ApiError("damaged_version", str(error)) from error
    if version is None:
        raise ApiError("not_found", "nothing was ever published: there is no report")
    return card(registry, version)


@registry_read()
def day(registry: Registry) -> bytes:
    """Return the page about the newest day; raise `ApiError` if there is none."""
    page = registry.read(DAY_HTML)
    if page is None:
        raise ApiError("not_found", "there is no page about a day: birthmark nightly writes them")
    return page


@registry_read()
def audit(registry: Registry, name: str) -> bytes:
    """Return the page of an audit; raise `ApiError` if there is none."""
    page = None
    if f"{name}.html" in registry.names(AUDITS):  # no other file, whatever the name
        page = registry.read(f"{AUDITS}/{name}.html")
    if page is None:
        raise ApiError("not_found", f"there is no audit of {name}")
    return page
