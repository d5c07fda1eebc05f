"""HTML that goes out: what a page may do in a browser, and the page of an error."""

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

_ELSE = ("It could not be answered", "Go back to the service’s page, and try again from there.")
SAID = {
    "not_found": (
        "There is no such page",
        "It may have been removed. The service’s page lists what versions and audits there are.",
    ),
    "unauthorized": (
        "A token is needed",
        "Load the page again, and give a token for reading as the password; the name does not"
        " matter. Who runs the service has it, or makes one with birthmark tokens add.",
    ),
    "forbidden": (
        "This token is not for reading",
        "Close the browser, and begin again with a token for reading.",
    ),
    "internal": ("The service failed", "Its log says how. Try again, or tell who runs it."),
    "overloaded": ("The service is busy", "Try again in a few seconds."),
    "no_registry": (
        "The registry cannot be read now",
        "Answers go on. Its log says why; try again when the registry is back.",
    ),
    "damaged_version": (
        "What is published is damaged",
        "Answers go on. Publish another version with birthmark models rollback or train.",
    ),
}
"""What people are told of an error by its type, and what they can do about it.

Nothing of its message: that may name places on this host, which are nobody's business who browses.
"""
SAID["no_version"] = SAID["not_found"]


def wanted(method: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether who asks would see a page: it is a browser that goes somewhere."""
    if method not in ("GET", "HEAD"):
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in headers)


def response(html: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a page: nothing is loaded, no script runs, and no style holds but its first."""
    style = "'none'"
    if first := _STYLE.search(html):
        # Browsers see the text with its ends of line made one (HTML, "Normalizing newlines").
        text = first[1].replace(b"\r\n", b"\n")
        style = f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"
    own = {
        "content-security-policy": _POLICY.format(style=style),
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
    }
    return Response(html, status, {**(headers or {}), **own}, media_type="text/html")


def error_page(type: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return the page of an error of a `type` in `errors.TYPES`."""
    what, to_do = SAID.get(type, _ELSE)
    text = (
        _environment().get_template("error.html.j2").render(what=what, to_do=to_do, status=status)
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
