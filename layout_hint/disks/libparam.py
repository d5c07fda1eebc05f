"""DiskSim's parameter files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Block = dict[str, Any]
"""The contents of braces: keys and values, which may be blocks and lists."""

_WORD = re.compile(r"#.*|([\[\]{},=])|([^\[\]{},=#\n]+)")


def words(text: str) -> Iterator[str]:
    """Yield the words and signs of a parameter file, without comments."""
    for match in _WORD.finditer(text):
        word = (match[1] or match[2] or "").strip()
        if word:
            yield word


class Parser:
    """Reads blocks ``TYPE NAME { KEY = VALUE, ... }``, as DiskSim's libparam does."""

    def __init__(self, text: str) -> None:
        self._words = list(words(text))
        self._next = 0

    def top(self) -> Block:
        """Return the file's block."""
        self._take()
        return self._block()

    def _take(self) -> str:
        if self._next == len(self._words):
            raise ValueError("expected more: the file ends within a block")
        self._next += 1
        return self._words[self._next - 1]

    def _peek(self) -> str:
        return self._words[self._next] if self._next < len(self._words) else ""

    def _expect(self, sign: str) -> None:
        if (found := self._take()) != sign:
            raise ValueError(f"expected {sign!r}, found {found!r}")

    def _many(self, end: str, read: Callable[[], None]) -> None:
        while self._peek() != end:
            read()
            if self._peek() != end:
                self._expect(",")
        self._expect(end)

    def _block(self) -> Block:
        block: Block = {}

        def member() -> None:
            key = self._take()
            self._expect("=")
            block[key] = self._value()

        self._expect("{")
        self._many("}", member)
        return block

    def _value(self) -> Any:
        if self._peek() != "[":
            word = self._take()
            return self._block() if self._peek() == "{" else _number(word)
        values: list[Any] = []
        self._expect("[")
        self._many("]", lambda: values.append(self._value()))
        return values


def _number(word: str) -> Any:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
