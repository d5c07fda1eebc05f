"""HTML responses: their content security policy, and the pages of errors."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache

from fastapi import Response
from jinja2 import ChoiceLoader, Environment, PackageLoader

from birthmark.training.reports.environment import pages

_STYLE = re.compile(rb"<style>(.*?)</style>", re.DOTALL)

_POLICY = (
    "default-src 'none'; style-src {style}; img-src data:; form-action 'self'; base-uri 'none';"
    " frame-ancestors 'none'"
)

_OTHER = ("The request failed", "Go back to the service’s page, and try again from there.")
TEXTS = {
    "not_found": (
        "There is no such page",
        "It may have been removed. The service’s page lists the versions and audits.",
    ),
    "unauthorized": (
        "A token is needed",
        "Load the page again, and enter a token with the scope read as the password; the user name"
        " does not matter. The administrator has one, or makes one with birthmark tokens add.",
    ),
    "forbidden": (
        "This token does not have the scope read",
        "Close the browser, and start again with a token that has it.",
    ),
    "internal": (
        "The service failed",
        "Its log says how. Try again, or tell the administrator.",
    ),
    "overloaded": ("The service is busy", "Try again in a few seconds."),
    "no_registry": (
        "The registry cannot be read now",
        "The service still answers. Its log says why; try again when the registry is back.",
    ),
    "damaged_version": (
        "The published version is damaged",
        "The service still answers. Publish another version with birthmark models rollback or"
        " train.",
    ),
}
"""The title of the page by type of error, and what to do.

The error's message is left out because it may name paths on this host.
"""
TEXTS["no_version"] = TEXTS["not_found"]


def wanted(method: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request wants a page: a browser navigates."""
    if method not in ("GET", "HEAD"):
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in headers)


def response(html: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a page that loads nothing, runs no script, and has only its first style."""
    style = "'none'"
    if first := _STYLE.search(html):
        # Browsers normalize newlines before they hash (HTML, "Normalizing newlines").
        text = first[1].replace(b"\r\n", b"\n")
        style = f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"
    fields = {
        "content-security-policy": _POLICY.format(style=style),
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
    }
    return Response(html, status, {**(headers or {}), **fields}, media_type="text/html")


def error_page(type: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return the page for an error of a `type` in `errors.TYPES`."""
    title, to_do = TEXTS.get(type, _OTHER)
    text = (
        _environment().get_template("error.html.j2").render(title=title, to_do=to_do, status=status)
    )
    return response(text.encode(), status, {**(headers or {}), "vary": "accept"})


@cache
def _environment() -> Environment:
    return pages(
        ChoiceLoader(
            [
                PackageLoader("birthmark.serving.messages"),
                PackageLoader("birthmark.training.reports"),  # report.css, the style of all pages
            ]
        )
    )
