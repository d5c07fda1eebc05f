"""Rules or trees that answer only at certain history scopes, as a section of an image."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from birthmark.predictor.image.format import Section, Writer
from birthmark_native import BM_SECTION_SCOPED


@dataclass(frozen=True)
class ScopedSection:
    """Rules or trees, and the predicates for which they answer.

    ``answered`` has their keys for each of ``features.history_scope.HISTORY_SCOPES``.
    """

    section: Section
    answered: Sequence[Collection[str]]

    kind: ClassVar[int] = BM_SECTION_SCOPED

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        offset = self.section.write(writer, places)
        size = 8 * -(-len(places) // 64)
        masks = [sum(1 << places[key] for key in keys) for keys in self.answered]
        table = b"".join(mask.to_bytes(size, "little") for mask in masks)
        writer.steps += 1
        return writer.put_u32([self.section.kind, offset, writer.put(table, 8), 0], 8)
