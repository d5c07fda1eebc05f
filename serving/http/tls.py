"""The certificate and its key, for TLS."""

from __future__ import annotations

import ssl

from birthmark.data.common.regular import read_regular
from birthmark.serving.settings import Settings

MOST_BYTES = 1 << 20
"""The largest file of a certificate with its chain, or of a key."""


def certificate(settings: Settings) -> tuple[bytes, bytes] | None:
    """Return the certificate with its chain, and its key, as PEM; None without TLS.

    Raises ValueError for files that are not a certificate and its key.
    """
    if settings.ssl_certfile is None or settings.ssl_keyfile is None:
        return None
    try:
        paths = settings.ssl_certfile, settings.ssl_keyfile
        chain, key = (read_regular(path, MOST_BYTES) for path in paths)
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*paths)
    except OSError as error:
        place = f"{settings.ssl_certfile}, {settings.ssl_keyfile}"
        raise ValueError(f"{place}: expected a certificate and its key: {error}") from error
    return chain, key
