"""The query of a request for predictions: ``?answers=three``."""

from __future__ import annotations

from urllib.parse import parse_qsl

from birthmark.serving.messages.errors import ApiError

ANSWERS = ("three",)
"""What may be asked for by ``answers``: a stream with each answer's word and probability, too."""


def wants_three(query: bytes) -> bool:
    """Return whether a query asks for the three answers; raise `ApiError` for an unknown value."""
    if not query:  # that of most requests
        return False
    fields = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    found = [value for name, value in fields if name == "answers"]
    for value in found:
        if value not in ANSWERS:
            expected = " or ".join(ANSWERS)
            raise ApiError("invalid_request", f"expected {expected}", field="answers", value=value)
    return bool(found)
