"""Directories and files: existence, access and privacy."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from birthmark.data.common.plurals import counted
from birthmark.doctor.site import Fault, Finding, Site
from birthmark.install.access import READ, SEARCH, WRITE, closed, grants
from birthmark.serving.access import tokens
from birthmark.training.nightly.trace_files import beginning

_OTHERS = stat.S_IROTH | stat.S_IWOTH | stat.S_IXOTH


def directories(site: Site) -> Iterator[Finding]:
    """Find directories that are missing, or closed to the service's user."""
    own = site.installed
    for place, path in own.shut().items():
        what = f"is closed to {site.user}, who needs {path}"
        yield Fault(what, str(place), f"chgrp {site.user} {place}; chmod g+rX {place}")
    written = [path for path in (own.registry, own.datasets, own.log, own.followed) if path]
    for path in (Path(each) for each in written if isinstance(each, Path)):
        yield from _directory(site, path, READ | WRITE | SEARCH)
    sources = [beginning(Path(glob)) for glob in own.settings.globs]
    if own.source is not None:
        sources.append(own.source if own.source.is_dir() else beginning(own.source))
    for path in dict.fromkeys(sources):
        yield from _directory(site, path, READ | SEARCH)


def _directory(site: Site, path: Path, needed: int) -> Iterator[Finding]:
    if not path.is_dir():
        do = f"install -d -o {site.user} -g {site.user} -m 0750 {path}"
        yield Fault("there is no such directory", str(path), do)
        return
    shut = closed(site.user, path, needed)
    if shut is not None:
        can = "read and written" if needed & WRITE else "read"
        let = f"chgrp {site.user} {shut}; chmod g+rx {shut}"
        do = f"chown {site.user} {shut}" if needed & WRITE and shut == path.resolve() else let
        yield Fault(f"cannot be {can} by {site.user}", str(shut), do)
        return
    if needed & WRITE:
        yield from _owned(site, path)


def _owned(site: Site, path: Path) -> Iterator[Finding]:
    """Find files of other users, such as root, which cannot be replaced."""
    others = [
        each
        for each in sorted([*path.iterdir(), *path.glob("*/*")])
        if each.is_dir() and not grants(site.user, each, READ | WRITE | SEARCH)
    ]
    if others:
        more = f", and {counted(len(others) - 1, 'others')}" if len(others) > 1 else ""
        do = f"chown -R {site.user}: {path}"
        yield Fault(f"belongs to another user than {site.user}", f"{others[0]}{more}", do)


def secrets(site: Site) -> Iterator[Finding]:
    """Find file names, contents and keys that other users of this host can read."""
    own = site.installed
    sources = [beginning(Path(glob)) for glob in own.settings.globs]
    holding = [own.datasets, own.log, own.followed, own.source, *sources]
    for path in dict.fromkeys(filter(None, holding)):
        if path.is_dir() and _is_open(path):
            what = "is open to all users, and holds names or contents of files"
            yield Fault(what, str(path), f"chmod o-rwx {path}")
    yield from _keys(site)


def _keys(site: Site) -> Iterator[Finding]:
    settings, follow = site.settings, site.installed.settings.follow
    sent = follow.send_token if follow else None
    for path in (settings.tokens, settings.ssl_keyfile, sent):
        if path is None:
            continue
        if not path.is_file():
            yield Fault("there is no such file", str(path), "make it, or remove the setting")
        elif _is_open(path):
            yield Fault("is a secret that all users can read", str(path), f"chmod o-rwx {path}")
        elif (shut := closed(site.user, path)) is not None:
            do = f"chgrp {site.user} {path}; chmod 0640 {path}"
            yield Fault(f"is closed to {site.user}, who needs {path}", str(shut), do)
        elif path == settings.tokens:
            yield from _tokens(path)


def _tokens(path: Path) -> Iterator[Finding]:
    try:
        tokens.read(path)
    except ValueError as error:
        yield Fault(f"cannot be read: {error}", str(path), "make it again by birthmark tokens add")


def _is_open(path: Path) -> bool:
    """Return whether users outside of its group can reach and read it."""
    real = path.resolve()
    if not all(parent.stat().st_mode & stat.S_IXOTH for parent in real.parents):
        return False
    return bool(real.stat().st_mode & _OTHERS)
