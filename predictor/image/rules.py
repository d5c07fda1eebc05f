"""Rules about the components of names, as a section of an image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from birthmark.predictor.image import steps
from birthmark.predictor.image.dictionary import write_dictionary
from birthmark.predictor.image.format import Writer
from birthmark_native import BM_SECTION_RULES

PLACES = ("whole", "first", "last", "middle", "prefix", "any")
"""The position of a component in a name; ``any``, without a text, holds for every create."""


MOST = 255
"""Greatest score of a rule."""


class ImageRule(NamedTuple):
    """Names with ``text`` in ``place`` score ``least`` to ``most`` for ``predicate``."""

    predicate: str
    place: str
    text: bytes
    least: int = 0
    most: int = MOST


@dataclass(frozen=True)
class RulesSection:
    """Rules, and the ``order`` of precedence of places.

    In one place the greatest ``least`` and the smallest ``most`` count. A later place raises the
    score to its ``least``, but not above any ``most`` so far; without a rule it is 0.
    """

    rules: Iterable[ImageRule]
    order: Sequence[str] = PLACES

    kind: ClassVar[int] = BM_SECTION_RULES

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        if sorted(self.order) != sorted(PLACES):
            raise ValueError(f"the order must name each of {', '.join(PLACES)} once")
        rows = {component: bytes(row) for component, row in self._rows(places).items()}
        numbers = {row: number for number, row in enumerate(sorted(set(rows.values())))}
        entries = [(kind, text, numbers[row]) for (kind, text), row in rows.items()]
        dictionary = write_dictionary(writer, entries, steps.COMPONENTS)
        head = [*dictionary, len(numbers), writer.put(b"".join(numbers))]
        order = bytes(PLACES.index(place) for place in self.order) + bytes(2)
        writer.steps += steps.COMPONENTS  # a row for each
        offset = writer.put_u32(head, 8)
        writer.put(order)
        return offset

    def _rows(self, places: Mapping[str, int]) -> dict[tuple[int, bytes], bytearray]:
        """Return for each component every predicate's least score, then its greatest."""
        rows: dict[tuple[int, bytes], bytearray] = {}
        nothing = bytes(len(places)) + bytes([MOST]) * len(places)
        for rule in self.rules:
            component = (PLACES.index(rule.place), rule.text)
            row = rows.setdefault(component, bytearray(nothing))
            least, most = places[rule.predicate], len(places) + places[rule.predicate]
            row[least], row[most] = max(row[least], rule.least), min(row[most], rule.most)
        return rows
