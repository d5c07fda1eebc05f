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


class ImageRule(NamedTuple):
    """Names that have ``text`` in ``place`` are a yes, or a no, for ``predicate``."""

    predicate: str
    place: str
    text: bytes
    yes: bool


@dataclass(frozen=True)
class RulesSection:
    """Rules, and the ``order`` of precedence of places.

    For each predicate the first place with a matching rule decides, and within one place a no
    beats a yes; without a match the answer is no.
    """

    rules: Iterable[ImageRule]
    order: Sequence[str] = PLACES

    kind: ClassVar[int] = BM_SECTION_RULES

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        if sorted(self.order) != sorted(PLACES):
            raise ValueError(f"the order must name each of {', '.join(PLACES)} once")
        masks = self._masks(places)
        numbers = {mask: number for number, mask in enumerate(sorted(set(masks.values())))}
        entries = [(kind, text, numbers[mask]) for (kind, text), mask in masks.items()]
        dictionary = write_dictionary(writer, entries, steps.COMPONENTS)
        size = 8 * -(-len(places) // 64)
        table = b"".join(word.to_bytes(size, "little") for mask in numbers for word in mask)
        head = [*dictionary, len(numbers), writer.put(table, 8)]
        order = bytes(PLACES.index(place) for place in self.order) + bytes(2)
        writer.steps += steps.COMPONENTS  # a mask for each
        offset = writer.put_u32(head, 8)
        writer.put(order)
        return offset

    def _masks(self, places: Mapping[str, int]) -> dict[tuple[int, bytes], tuple[int, int]]:
        """Return the bits of the predicates for which each component is a yes, and a no."""
        masks: dict[tuple[int, bytes], tuple[int, int]] = {}
        for predicate, place, text, says_yes in self.rules:
            component = (PLACES.index(place), text)
            yes, no = masks.get(component, (0, 0))
            bit = 1 << places[predicate]
            masks[component] = (yes | bit, no) if says_yes else (yes, no | bit)
        return masks
