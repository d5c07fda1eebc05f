"""The default address of the service, for itself and for its clients."""

from __future__ import annotations

HOST, PORT = "127.0.0.1", 8325
URL = f"http://{HOST}:{PORT}"
