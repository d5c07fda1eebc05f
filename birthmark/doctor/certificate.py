"""The HTTPS certificate: its key, its validity, and its expiry."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from birthmark.doctor.site import Fault, Finding, Site
from birthmark.install.access import closed
from birthmark.serving.server import tls

SOON = timedelta(days=14)
"""Shortest remaining validity without a fault."""

_SECONDS = 10.0
_TAKE = "systemctl reload birthmark"
_RENEW = f"renew it, and have the service load it: {_TAKE}"


def certificate(site: Site) -> Iterator[Finding]:
    """Find a certificate that clients refuse, or will soon, or that is not yet served."""
    path = site.settings.ssl_certfile
    if path is None:
        return
    if not path.is_file():
        yield Fault("there is no such file", str(path), "make it, or remove the setting")
    elif (shut := closed(site.user, path)) is not None:
        do = f"chgrp {site.user} {shut}; chmod g+rX {shut}"
        yield Fault(f"is closed to {site.user}, who needs {path}", str(shut), do)
    else:
        yield from _usable(site, path)


def trusting(certfile: Path) -> ssl.SSLContext:
    """Return an SSL context that trusts only the certificates in a file.

    Their issuer need not be known, and any host name matches.
    """
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    found.check_hostname = False
    found.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    found.load_verify_locations(certfile)
    return found


def _usable(site: Site, path: Path) -> Iterator[Finding]:
    try:
        server = tls.context(site.settings)
    except ValueError as error:
        do = "put a certificate and its own key there: the service does not start with these"
        yield Fault(f"cannot be used: {error}", str(path), do)
        return
    assert server is not None
    yield from _valid(site, server, path)
    yield from _served(site, path)


def _valid(site: Site, server: ssl.SSLContext, path: Path) -> Iterator[Finding]:
    try:
        until = _valid_until(server, path)
    except ssl.SSLCertVerificationError as error:
        yield Fault(f"clients refuse it: {error.verify_message}", str(path), _RENEW)
        return
    if until < site.now + SOON:
        yield Fault(f"expires at {until:%Y-%m-%d %H:%M} (UTC)", str(path), _RENEW)


def _valid_until(server: ssl.SSLContext, path: Path) -> datetime:
    """Return the expiry of a server's certificate, as a client sees it that trusts the file.

    The handshake is in memory: the standard library describes a certificate only to a client that
    verified it. Raises ssl.SSLCertVerificationError if verification fails.
    """
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = trusting(path).wrap_bio(to_client, to_server)
    answering = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (asking, answering, asking):
        with suppress(ssl.SSLWantReadError):
            side.do_handshake()
    found = asking.getpeercert()
    assert found is not None
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(found["notAfter"])), UTC)


def _served(site: Site, path: Path) -> Iterator[Finding]:
    """Find a service that still presents another certificate than the file's."""
    own = urlsplit(site.address)
    if not site.serves or own.scheme != "https" or own.hostname is None or site.socket is not None:
        return
    place = (own.hostname, own.port or 443)
    try:
        served = ssl.get_server_certificate(place, timeout=_SECONDS)
    except OSError:  # the check of the service reports it
        return
    text = path.read_text(encoding="ascii", errors="replace")
    first = text[text.index(ssl.PEM_HEADER) : text.index(ssl.PEM_FOOTER) + len(ssl.PEM_FOOTER)]
    if ssl.PEM_cert_to_DER_cert(served) != ssl.PEM_cert_to_DER_cert(first):
        what = "the service still presents another certificate than this file's"
        yield Fault(what, str(path), _TAKE)
