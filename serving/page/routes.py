"""The paths of the page and of the stored pages it links to; they are not in the OpenAPI document.

None is `async`, so that FastAPI runs them in threads: reading a registry may block.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from birthmark.serving.messages.errors import ApiError, registry_read
from birthmark.serving.messages.html import response
from birthmark.serving.page.view import Page
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import AUDITS, CARD_HTML, DAY_HTML, REPORT

router = APIRouter(include_in_schema=False)


def _page(request: Request) -> Page:
    page: Page = request.app.state.page
    return page


@router.get("/")
def page(request: Request, name: str | None = None) -> Response:
    """Show the state of the service, and the predictions for a file called `name`."""
    address = str(request.base_url).rstrip("/")
    return response(_page(request).html(name, address))


@router.get("/report")
@registry_read()
def report(request: Request) -> Response:
    """Show the newest training report, else the published version's card."""
    registry = _page(request).registry
    if (stored := registry.read(REPORT)) is not None:
        return response(stored)
    try:
        version = registry.current()
    except RegistryError as error:
        raise ApiError("damaged_version", str(error)) from error
    if version is None:
        raise ApiError("not_found", "nothing was ever published: there is no report")
    return response(_card(registry, version))


@router.get("/day")
@registry_read()
def day(request: Request) -> Response:
    """Show the nightly run's page about the newest day."""
    stored = _page(request).registry.read(DAY_HTML)
    if stored is None:
        raise ApiError("not_found", "there is no page about a day: birthmark nightly writes them")
    return response(stored)


@router.get("/models/{version}")
@registry_read()
def card(version: str, request: Request) -> Response:
    """Show the card of a version."""
    return response(_card(_page(request).registry, version))


@router.get("/audits/{name}")
@registry_read()
def audit(name: str, request: Request) -> Response:
    """Show an audit."""
    registry, stored = _page(request).registry, None
    if f"{name}.html" in registry.names(AUDITS):  # no other file, whatever the name
        stored = registry.read(f"{AUDITS}/{name}.html")
    if stored is None:
        raise ApiError("not_found", f"there is no audit of {name}")
    return response(stored)


def _card(registry: Registry, version: str) -> bytes:
    try:
        return (registry.directory(version) / CARD_HTML).read_bytes()
    except RegistryError as error:
        raise ApiError("no_version", str(error)) from error
    except FileNotFoundError as error:
        raise ApiError("not_found", f"version {version} has no card") from error
