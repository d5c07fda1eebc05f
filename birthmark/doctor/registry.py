"""The registry: whether a published version is intact and of this release."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from birthmark.data.common import durable
from birthmark.doctor.site import Fault, Finding, Site
from birthmark.predictor import TrainedModel
from birthmark.predictor.image.format import is_older
from birthmark.predictor.saved_images import IMAGE
from birthmark.training.registry.versions import Registry, RegistryError

_PATIENCE = 3.0
"""Longest time for which a writer holds the registry's lock, seconds."""


def registry(site: Site) -> Iterator[Finding]:
    """Find a registry without a usable published version."""
    own = site.registry
    if why := own.missing():
        yield Fault("there is no registry", why, "make the directory, and run birthmark nightly")
        return
    yield from _locked(own)
    try:
        current = own.current()
    except RegistryError as error:
        do = "birthmark models list shows the versions; birthmark models publish VERSION"
        yield Fault(f"its pointer is damaged: {error}", own.place, do)
        return
    if current is None:
        do = "run birthmark nightly (or birthmark train); models list shows those set aside"
        yield Fault("nothing is published in it", own.place, do)
        return
    yield from _answers(own, current)


def _answers(registry: Registry, version: str) -> Iterator[Finding]:
    where = f"{registry.place}/versions/{version}"
    back = "birthmark models rollback publishes the one before; or restore the file from a backup"
    try:
        registry.verify(version)
    except RegistryError as error:
        yield Fault(f"the published version is damaged: {error}", where, back)
        return
    directory = registry.directory(version)
    try:
        TrainedModel.load(directory, counts=False)
    except ValueError as error:
        do = "run birthmark nightly with this release: it trains and publishes again"
        yield Fault(f"the published version cannot be loaded: {error}", where, do)
        return
    image = directory / IMAGE
    if not image.exists() or is_older(_head(image)):
        what = "it has no image of this release's format, so one is compiled at each start"
        yield Fault(what, where, "run birthmark nightly: the next version has its own")


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(64)


def _locked(registry: Registry) -> Iterator[Finding]:
    """Find a lock that is held for longer than a write takes."""
    try:
        lock = registry.path / ".lock"
    except RegistryError:  # an object store has no lock
        return
    until = time.monotonic() + _PATIENCE
    while lock.exists():
        try:
            with durable.locked(lock, wait=False):
                return
        except durable.LockedError:
            if time.monotonic() > until:
                break
            time.sleep(_PATIENCE / 30)
    else:
        return
    what = f"a process has held its lock for more than {_PATIENCE:g} s, which prevents publication"
    yield Fault(what, str(lock), f"fuser {lock} names it; kill it if it hangs")
