"""The TLS context: the certificate and its key."""

from __future__ import annotations

import ssl

from birthmark.data.common.regular import read_regular
from birthmark.serving.settings import Settings

MOST_BYTES = 1 << 20
"""The largest file of a certificate with its chain, or of a key."""


def context(settings: Settings) -> ssl.SSLContext | None:
    """Return a context with the certificate and its key; None without TLS.

    Raises ValueError for files that are not a certificate and its key.
    """
    if settings.ssl_certfile is None or settings.ssl_keyfile is None:
        return None
    try:
        loaded = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        for path in (settings.ssl_certfile, settings.ssl_keyfile):
            read_regular(path, MOST_BYTES)  # OpenSSL would wait for a FIFO's writer
        loaded.load_cert_chain(settings.ssl_certfile, settings.ssl_keyfile)
    except OSError as error:
        place = f"{settings.ssl_certfile}, {settings.ssl_keyfile}"
        raise ValueError(f"{place}: expected a certificate and its key: {error}") from error
    return loaded
