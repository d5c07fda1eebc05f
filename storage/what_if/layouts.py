"""Variants of where files lie: what each is compared with, and what they are told of files.

A layout matters on a drive with an arm, and nowhere else. So a variant of hints is compared with
the same drive without hints; of one without an arm nothing is simulated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from birthmark.storage.what_if.calls import Survey
from birthmark.storage.what_if.hints import births
from birthmark.storage.what_if.lives import NO_BIRTHS, Births
from birthmark.storage.what_if.server import Server
from birthmark.storage.what_if.variants import Change

NO_ARM = (
    "the layout cannot matter on disks without an arm, as those that were fitted: "
    "say which drive, as drive=cheetah9LP"
)


@dataclass
class Layouts:
    """Variants, with those without hints that others are compared with.

    Attributes:
        changes: what each of them changes.
        beside: of variants of hints, what they are compared with, if that is not the server.
        untold: variants of which nothing can be told, and why.
    """

    changes: dict[str, Change] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    untold: dict[str, str] = field(default_factory=dict)

    def births(self, of: Survey, servers: Mapping[str, Server], model: str | None) -> Births:
        """Return what hints say of the files of a dataset; nothing, if no variant follows them.

        Raises:
            OSError: the model cannot be read.
            ValueError: it is no model; or no file was made in the dataset.
        """
        regions = {servers[name].region for name, own in self.changes.items() if own.hint()}
        if not regions:
            return NO_BIRTHS
        (region,) = regions  # `variants.refuse` takes care that there is one
        return births(of.dataset, of.server, model, region)


def layouts(server: Server, variants: Mapping[str, Change]) -> Layouts:
    """Return the variants of a server that are simulated, and how those of hints are compared."""
    found = Layouts()
    for name, change in variants.items():
        if change.hint() and change.of(server).drive is None:
            found.untold[name] = NO_ARM
            continue
        found.changes[name] = change
        plain = change.without_hint() if change.hint() else None
        if plain is not None:
            same = [own for own, other in variants.items() if other == plain]
            found.beside[name] = same[0] if same else f"{name}, without hints"
            found.changes[found.beside[name]] = plain
    return found
