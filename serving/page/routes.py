"""The paths of the page and of the pages it links to; they are not in the OpenAPI document.

None is `async`, so that FastAPI runs them in threads: reading a registry may block.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from birthmark.serving.messages.html import response
from birthmark.serving.page import documents
from birthmark.serving.page.view import Page

router = APIRouter(include_in_schema=False)


def _page(request: Request) -> Page:
    page: Page = request.scope["state"]["page"]
    return page


@router.get("/")
def page(request: Request, name: str | None = None) -> Response:
    """Show the state of the service, and the predictions for a file called `name`."""
    address = str(request.base_url).rstrip("/")
    return response(_page(request).html(name, address))


@router.get("/report")
def report(request: Request) -> Response:
    """Show the newest training report, else the published version's card."""
    return response(documents.report(_page(request).registry))


@router.get("/day")
def day(request: Request) -> Response:
    """Show the nightly run's page about the newest day."""
    return response(documents.day(_page(request).registry))


@router.get("/models/{version}")
def card(version: str, request: Request) -> Response:
    """Show the card of a version."""
    return response(documents.card(_page(request).registry, version))


@router.get("/audits/{name}")
def audit(name: str, request: Request) -> Response:
    """Show an audit."""
    return response(documents.audit(_page(request).registry, name))
