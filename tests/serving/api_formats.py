"""Values for schemathesis, for strings of the API's special formats."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime

import schemathesis
from hypothesis import strategies as st

from birthmark.features import HISTORY_BYTES


def _base64(some: bytes) -> str:
    return b64encode(some).decode()


names = st.binary(min_size=1, max_size=60).map(
    lambda name: name.replace(b"/", b"_").replace(b"\0", b"_")
)
histories = st.binary(min_size=HISTORY_BYTES, max_size=HISTORY_BYTES)
times = st.datetimes(
    min_value=datetime(1901, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)
)
schemathesis.openapi.format("name-base64", names.map(_base64))
schemathesis.openapi.format("path-base64", names.map(_base64))
schemathesis.openapi.format("opaque-base64", st.binary(min_size=1, max_size=64).map(_base64))
schemathesis.openapi.format("history-base64", histories.map(_base64))
schemathesis.openapi.format("date-time", times.map(datetime.isoformat))
