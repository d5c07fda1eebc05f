"""What functions of the compiled part return as dictionaries, and what they call others with."""

from typing import TypedDict


class Damaged(TypedDict):
    """A record that could not be read."""

    offset: int  # where it begins, in decompressed bytes
    line: int | None  # its line, from 1, in text; its row in a table
    length: int  # its length in bytes
    reason: str  # a word for counting
    expected: str  # what was expected there
    bytes: bytes  # its first bytes


class Written(TypedDict):
    """What a written capture holds, and what it does not."""

    packets: int  # those that open TCP conversations included
    calls: int  # messages, retransmissions included
    replies: int  # messages, second replies included
    skipped: dict[str, int]  # rows of which nothing was written, by the reason
