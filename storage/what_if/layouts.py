"""Variants of file layouts: their baselines and their hints.

A layout matters only on a drive with an arm. So the baseline of a variant with hints is the same
drive without hints; one without an arm is not simulated.
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
    "the layout cannot matter on disks without an arm, such as the fitted ones: "
    "say which drive, as drive=cheetah9LP"
)


@dataclass
class Layouts:
    """Variants, and the baselines without hints of others.

    Attributes:
        changes: the changes of each variant.
        beside: the baseline of each variant with hints, if that is not the server.
        not_simulated: variants that are not simulated, and why.
    """

    changes: dict[str, Change] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    not_simulated: dict[str, str] = field(default_factory=dict)

    def births(self, of: Survey, servers: Mapping[str, Server], model: str | None) -> Births:
        """Return the hints for the files of a dataset; nothing, if no variant follows them.

        Raises:
            OSError: the model cannot be read.
            ValueError: it is no model; or no file was made in the dataset.
        """
        regions = {servers[name].region for name, own in self.changes.items() if own.hint()}
        if not regions:
            return NO_BIRTHS
        (region,) = regions  # `variants.refuse` ensures that there is one
        return births(of.dataset, of.server, model, region)


def layouts(server: Server, variants: Mapping[str, Change]) -> Layouts:
    """Return the variants of a server to simulate, with the baselines of those with hints."""
    found = Layouts()
    for name, change in variants.items():
        if change.hint() and change.of(server).drive is None:
            found.not_simulated[name] = NO_ARM
            continue
        found.changes[name] = change
        plain = change.without_hint() if change.hint() else None
        if plain is not None:
            same = [own for own, other in variants.items() if other == plain]
            found.beside[name] = same[0] if same else f"{name}, without hints"
            found.changes[found.beside[name]] = plain
    return found
