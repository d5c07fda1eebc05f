"""Rules or trees that answer only where so much is told, as a section of an image."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from birthmark.predictor.image.format import Section, Writer
from birthmark_native import BM_SECTION_TOLD


@dataclass(frozen=True)
class ToldSection:
    """Rules or trees, and the predicates for which they answer.

    ``answered`` are the keys of these for each of ``features.told.TOLD``.
    """

    section: Section
    answered: Sequence[Collection[str]]

    kind: ClassVar[int] = BM_SECTION_TOLD

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        offset = self.section.write(writer, places)
        size = 8 * -(-len(places) // 64)
        masks = [sum(1 << places[key] for key in keys) for keys in self.answered]
        table = b"".join(mask.to_bytes(size, "little") for mask in masks)
        writer.steps += 1
        return writer.put_u32([self.section.kind, offset, writer.put(table, 8), 0], 8)
