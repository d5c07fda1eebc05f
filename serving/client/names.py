"""File names, which are bytes, as members of JSON, which is text."""

from __future__ import annotations

from urllib.parse import quote_from_bytes


def written(member: str, name: bytes) -> dict[str, str]:
    """Return `name` as a member of a request: as text if it is UTF-8, else percent-encoded."""
    try:
        return {member: name.decode()}
    except UnicodeDecodeError:
        return {f"{member}_percent": quote_from_bytes(name)}
