"""Cases as data: suites of behaviours, each with its input and what is expected.

A suite is a YAML file with a case per title. A case is a mapping of texts: ``source`` cites what
the expectation follows from, others are the input, and the last is the expectation. ``make
expectations`` replaces expectations by what is found; titles, inputs, comments and order stay.
"""

from __future__ import annotations

import difflib
import os
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
REWRITE = "TEST_REWRITE"
"""The environment variable with which tests write expectations instead of comparing them."""


@dataclass(frozen=True)
class Case:
    """A behaviour: its title, and its texts by key."""

    suite: Path
    title: str
    texts: dict[str, str]

    def __getitem__(self, key: str) -> str:
        return self.texts[key]

    def get(self, key: str, default: str = "") -> str:
        """Return a text, or the default if the case has none of this key."""
        return self.texts.get(key, default)

    @property
    def expected(self) -> str:
        """The expectation, without the end of its last line."""
        return [*self.texts.values()][-1].rstrip("\n")

    def expect(self, found: str) -> None:
        """Fail with a diff if the expectation is not what was found; with ``REWRITE``, write it."""
        if found == self.expected:
            return
        if os.environ.get(REWRITE):
            self.suite.write_text(rewrite(self.suite.read_text(), self.title, found))
            return
        lines = (text.split("\n") for text in (self.expected, found))
        diff = difflib.unified_diff(*lines, "expected", "found", n=99, lineterm="")
        pytest.fail("\n".join([f"{self.suite}: {self.title}", *diff]), pytrace=False)


def read(suite: Path) -> list[Case]:
    """Return the cases of a suite, in their order."""
    found = {}
    for title, texts in _cases(suite.read_text()):
        assert title not in found, f"{suite}: two cases have the title {title!r}"
        found[title] = Case(suite, title, {key: text.value for key, text in texts.items()})
    return list(found.values())


def suites(folder: str) -> pytest.MarkDecorator:
    """Return a mark that runs a test with each case of the suites in a folder of the tests."""
    paths = sorted((ROOT / "tests" / folder).glob("*.yml"))
    cases = [case for path in paths for case in read(path)]
    assert cases, f"no cases in {folder}"
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.title)


def rewrite(suite: str, title: str, found: str) -> str:
    """Return the text of a suite with what was found as the expectation of a case."""
    texts = next(texts for name, texts in _cases(suite) if name == title)
    (*_, expected) = texts.values()
    start = expected.start_mark.index
    written = suite[start : expected.end_mark.index].rstrip()
    block = textwrap.indent(found, "    ")
    return f"{suite[:start].rstrip(' ')} |\n{block}{suite[start + len(written) :]}"


def _cases(suite: str) -> Iterator[tuple[str, dict[str, yaml.Node]]]:
    """Yield the texts of each case of a suite, where they stand, with its title."""
    for title, case in yaml.compose(suite, yaml.CBaseLoader).value:
        yield title.value, {key.value: text for key, text in case.value}


def align(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as lines, each column as wide as its longest cell."""
    columns = zip_longest(*rows, fillvalue="")
    padded = zip(*([cell.ljust(max(map(len, c))) for cell in c] for c in columns), strict=True)
    return "\n".join("  ".join(row).rstrip() for row in padded)
