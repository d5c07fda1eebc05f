"""The query of a request for predictions: ``?answers=three``."""

from __future__ import annotations

from urllib.parse import parse_qsl

from birthmark.serving.messages.errors import ApiError

ANSWERS = ("three",)
"""The values of ``answers``: ``three`` adds each answer's word and probability to a stream."""


def wants_three(query: bytes) -> bool:
    """Return whether a query requests the three answers; raise `ApiError` for an unknown value."""
    if not query:  # most requests have none
        return False
    fields = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    values = [value for name, value in fields if name == "answers"]
    for value in values:
        if value not in ANSWERS:
            expected = " or ".join(ANSWERS)
            raise ApiError("invalid_request", f"expected {expected}", field="answers", value=value)
    return bool(values)
