"""``birthmark doctor`` finds each fault that was made on purpose, and none on a healthy site."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.common import durable
from birthmark.data.follow.status import Status
from birthmark.doctor import traffic
from birthmark.doctor.site import Site as Examined
from birthmark.exits import FAILED, MISCONFIGURED
from birthmark.install import Site, files
from birthmark.site_file import SiteConfig
from birthmark.training.config import Engine, read_config
from birthmark.training.engine import opened
from birthmark.training.nightly.intake import Entry, take_in
from birthmark.training.nightly.run import nightly
from birthmark.training.nightly.state import STATE, Recorder, read, recording
from birthmark.training.registry.versions import Registry
from tests import needs
from tests.archives import unpack
from tests.builders import captures
from tests.builders.lives import MONDAY, day_of_lives
from tests.builders.traces import trace_of
from tests.faults.disks import mounted
from tests.generated import write
from tests.serving.live_histories import Follower
from tests.serving.services import served, settings_for, started

pytestmark = pytest.mark.deep

CONFIG = """\
[traces]
files = ["traces/*"]
settle_seconds = 0
[follow]
source = "captures"
datasets = "followed"
[datasets]
directory = "datasets"
[registry]
directory = "registry"
[training]
trees = 2
rounds = 1
calibration = 0
serve = "name"
point = "accurate"
[audit]
log = "log"
[engine]
workers = 1
"""
IS_ROOT = os.geteuid() == 0
USER = "nobody" if IS_ROOT else pwd.getpwuid(os.geteuid()).pw_name
DAY = timedelta(days=1)


@contextmanager
def installed() -> Iterator[None]:
    """Let the program be where every user may run it, which a checkout need not be."""
    with patch("birthmark.install.sys", executable="/bin/sh", prefix="/usr"):
        yield


@dataclass
class Home:
    """A site, what it is examined with, and what is to be undone afterwards."""

    path: Path
    url: str
    after: ExitStack = field(default_factory=ExitStack)
    others: list[str] = field(default_factory=list)

    @property
    def config(self) -> Path:
        return self.path / "birthmark.toml"

    @property
    def registry(self) -> Registry:
        return Registry(self.path / "registry")

    @property
    def dataset(self) -> Path:
        (found,) = (self.path / "datasets").glob("2001*")
        return found

    def options(self) -> list[str]:
        found = ["--config", str(self.config), "--user", USER]
        found += ["--units", str(self.path / "units")]
        return found + self.others + (["--url", self.url] if self.url else ["--no-service"])

    def doctor(self, *more: str) -> tuple[int, str]:
        with installed():
            done = CliRunner().invoke(app, ["doctor", *self.options(), *more])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    def found(self) -> dict[str, list[dict[str, str]]]:
        """Return the faults that are found, by check."""
        code, printed = self.doctor("--json")
        report: dict[str, list[dict[str, str]]] = json.loads(printed)["faults"]
        assert code == (FAILED if report else 0)
        return report

    def set(self, line: str) -> None:
        """Add a setting of the service."""
        with (self.path / "serve.env").open("a") as file:
            file.write(f"{line}\n")

    def report(self, **other: Any) -> None:
        """Let the last night have been another."""
        night = read(self.registry)
        assert night is not None
        self.registry.write(STATE, replace(night, **other).to_json())

    def follows(self, **other: Any) -> None:
        """Let the follower tell of itself."""
        report = Status("captures", "followed").to_json() | {"state": "following", "lag": 0.1}
        (self.path / "followed" / ".status.json").write_text(json.dumps(report | other))

    def take_in(self, name: str, content: bytes) -> None:
        """Make a dataset of one more trace, as a night does."""
        trace = self.path / "traces" / name
        trace.write_bytes(content)
        directory = self.path / "datasets"
        with opened(Engine(workers=1), directory):
            take_in({"": [Entry.of(trace)]}, directory)
        own(directory)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """Return a site after its first night: below /tmp, where another user comes to it."""
    with tempfile.TemporaryDirectory(prefix="birthmark-doctor-") as place:
        home = Path(place)
        home.chmod(0o755)
        for name in ("traces", "captures", "followed", "registry", "datasets", "log"):
            (home / name).mkdir(0o750)
        (home / "birthmark.toml").write_text(CONFIG)
        (home / "traces" / "day0.txt").write_text(trace(0))
        nightly(read_config(home / "birthmark.toml"))
        yield home


@pytest.fixture
def home(made: Path) -> Iterator[Home]:
    """Return a healthy site of its own, but for a service, with its units and a follower."""
    with tempfile.TemporaryDirectory(prefix="birthmark-doctor-") as place, ExitStack() as after:
        path = Path(place) / "site"
        shutil.copytree(made, path)
        path.parent.chmod(0o755)
        path.chmod(0o755)
        found = Home(path, "", after)
        found.set(f"BIRTHMARK_HISTORY={path}/run/history")
        found.set("BIRTHMARK_HISTORY_AGE=100000")
        follower = Follower(path / "run")
        follower.says()
        after.callback(lambda: follower)  # it stays for as long
        found.follows()
        (path / "units" / "timers.target.wants").mkdir(parents=True)
        with installed():
            for file in files("systemd", _site(found.config)):
                (path / "units" / file.path.name).write_text(file.text)
        timer = path / "units" / "timers.target.wants" / "birthmark-nightly.timer"
        timer.symlink_to("../birthmark-nightly.timer")
        if IS_ROOT:
            for each in (path, *path.rglob("*")):
                shutil.chown(each, USER)
        yield found


def _site(config: Path) -> Site:
    return Site(config, read_config(config, SiteConfig), USER)


def trace(day: int) -> str:
    return trace_of(day_of_lives(MONDAY + day * DAY, each=20))


def lines(day: int, wanted: Callable[[int, str], bool]) -> bytes:
    """Return those lines of a day's trace that are wanted, by number and content."""
    own = trace(day).splitlines(keepends=True)
    return "".join(each for number, each in enumerate(own) if wanted(number, each)).encode()


@contextmanager
def serving(home: Home, registry: Path | None = None) -> Iterator[None]:
    """Serve, from another registry if it is given, and let the doctor know where."""
    settings = settings_for(registry or home.registry.path, poll_seconds=3600)
    with served(settings) as client:
        home.url = str(client.base_url)
        yield


def test_on_a_healthy_site_nothing_is_found(home: Home) -> None:
    with serving(home):
        assert home.found() == {}
        code, printed = home.doctor()
    assert (code, printed) == (0, "No fault found in 12 checks.\n")


def test_a_certificate_that_is_valid_for_15_days_more_is_no_fault(home: Home) -> None:
    certified(home, 15)
    assert home.found() == {}


def test_a_site_without_units_follower_and_service_may_be_healthy(home: Home) -> None:
    shutil.rmtree(home.path / "units")
    (home.path / "serve.env").unlink()
    text = CONFIG.replace('source = "captures"\n', "")
    home.config.write_text(text)
    code, printed = home.doctor()
    assert code == 0
    assert printed.startswith("No fault found in 12 checks, but some could not be made.\n")
    assert (
        "Not examined: service: whether the service answers, by --no-service; units: systemd "
        in printed
    )


def cut(capture: bytes, size: int) -> bytes:
    """Return a capture with packets cut to a length (tcpdump -s)."""
    found, at = capture[:24], 24
    while at < len(capture):
        seconds, part, held, whole = struct.unpack_from("<IIII", capture, at)
        less = min(held, size)
        found += struct.pack("<IIII", seconds, part, less, whole)
        found += capture[at + 16 : at + 16 + less]
        at += 16 + held
    return found


def capture_in(folder: Path) -> bytes:
    """Return a small capture of NFS."""
    place = folder / "made.pcap"
    workload = {"name": "eecs03", "seed": 1, "start": "2003-02-24", "days": 0.02, "rate": 0.02}
    write(workload, place)
    content = place.read_bytes()
    place.unlink()
    return content


def closed_port() -> str:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{own.getsockname()[1]}"


def tokens(home: Home, mode: int, content: str = "[]") -> None:
    path = home.path / "tokens.json"
    path.write_text(content)
    shutil.chown(path, USER)
    path.chmod(mode)
    home.set(f"BIRTHMARK_TOKENS={path}")


def older(home: Home) -> None:
    """Let what an earlier release published be there, as after an upgrade."""
    archive = Path(__file__).parents[1] / "upgrades" / "dbaf556.tar.xz"
    shutil.rmtree(home.path / "registry" / "versions")
    unpack(archive, home.path, lambda name: "/registry/" in name)
    own(home.path / "registry")


def own(path: Path) -> None:
    """Give all that is there to who runs the site."""
    for each in (path, *path.rglob("*")) if IS_ROOT else ():
        shutil.chown(each, USER)


def from_the_future(home: Home) -> None:
    future = Registry(home.path / "registry", clock=lambda: datetime.now(UTC) + 90 * DAY)
    future.store(lambda to: (to / "part").write_text("part"), {})
    own(home.path / "registry")


def reaches(home: Home, days: int) -> None:
    """Let the dataset reach into the future."""
    intake = home.dataset / "intake.json"
    report = json.loads(intake.read_bytes())
    report["period"][1] = (datetime.now(UTC) + days * DAY).isoformat()
    intake.write_text(json.dumps(report))


def flipped(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def left(path: Path) -> None:
    path.mkdir(parents=True)
    own(path.parent)


def table(home: Home) -> Path:
    return next((home.dataset / "files").glob("*/*/*.parquet"))


def ended(path: Path, days: int) -> None:
    """Let files have been changed so long ago."""
    then = (datetime.now(UTC) - days * DAY).timestamp()
    for each in path.iterdir():
        os.utime(each, (then, then))


def failed(home: Home) -> None:
    with pytest.raises(OSError, match="full"), recording(home.registry, home.path / "datasets"):
        raise OSError(28, "disk is full", "/srv/datasets")


def hangs(home: Home) -> None:
    now = datetime.now(UTC)
    home.report(began=now - 2 * DAY, ended=now - 3 * DAY)
    home.after.enter_context(durable.locked(home.path / "datasets" / ".lock"))


def small_disk(home: Home, *options: str) -> None:
    disk = home.after.enter_context(mounted(home.path / "log", ",".join(options)))
    if not disk.own:
        pytest.skip("needs root, and to be allowed to mount a small disk")
    (home.path / "log").chmod(0o750)
    own(home.path / "log")


def no_model(home: Home) -> None:
    empty = home.path / "empty"
    empty.mkdir()
    home.after.enter_context(serving(home, empty))


def another_version(home: Home) -> None:
    copy = shutil.copytree(home.path / "registry", home.path / "another")
    home.after.enter_context(serving(home, copy))
    part = home.registry.directory(home.registry.published()) / "model.json"
    content = part.read_bytes()
    home.registry.publish(lambda to: (to / "model.json").write_bytes(content), {})
    own(home.path / "registry")


def chmod(path: str, mode: int) -> Callable[[Home], None]:
    return lambda home: (home.path / path).chmod(mode)


def belongs_to_root(home: Home) -> None:
    path = home.path / "registry" / "versions"
    if IS_ROOT:
        shutil.chown(path, "root")
    path.chmod(0o555)


CA = """\
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
x509_extensions = server
[any]
commonName = supplied
[server]
basicConstraints = CA:FALSE
subjectAltName = IP:127.0.0.1
extendedKeyUsage = serverAuth
"""
"""Configuration of a certificate authority of openssl, which sets the validity of certificates."""


def pair(folder: Path, days: float, since: float = -30) -> tuple[Path, Path]:
    """Make a certificate and its key in a folder, issued by an unknown authority."""
    openssl = needs.program("openssl")
    folder.mkdir(parents=True)
    (folder / "ca.cnf").write_text(CA)
    (folder / "index.txt").touch()
    (folder / "serial").write_text("01")

    def run(*options: str) -> None:
        subprocess.run([openssl, *options], cwd=folder, check=True, capture_output=True)

    def at(days: float) -> str:
        return f"{datetime.now(UTC) + days * DAY:%Y%m%d%H%M%SZ}"

    new = ("req", "-newkey", "rsa:2048", "-nodes")
    run(*new, "-x509", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    run(*new, "-subj", "/CN=host", "-keyout", "key.pem", "-out", "request.pem")
    issue = ("ca", "-batch", "-notext", "-config", "ca.cnf", "-cert", "ca.pem")
    period = ("-startdate", at(since), "-enddate", at(days))
    run(*issue, "-keyfile", "ca.key", "-in", "request.pem", "-out", "certificate.pem", *period)
    (folder / "certificate.pem").chmod(0o644)
    own(folder)
    return folder / "certificate.pem", folder / "key.pem"


def certified(home: Home, days: float, since: float = -30) -> tuple[Path, Path]:
    """Let the service have a certificate that is valid for so many days."""
    made = pair(home.path / "tls", days, since)
    home.set(f"BIRTHMARK_SSL_CERTFILE={made[0]}")
    home.set(f"BIRTHMARK_SSL_KEYFILE={made[1]}")
    return made


def other_key(home: Home) -> None:
    _, key = certified(home, 90)
    shutil.copyfile(pair(home.path / "other", 90)[1], key)


def closed_certificate(home: Home) -> None:
    certificate, _ = certified(home, 90)
    if IS_ROOT:
        shutil.chown(certificate, "root")
    certificate.chmod(0o600 if IS_ROOT else 0o000)


def renewed(home: Home) -> None:
    """Let the certificate be another one than the service took when it began."""
    ingested = certified(home, 90)
    options = ("--ssl-certfile", str(ingested[0]), "--ssl-keyfile", str(ingested[1]))
    place = Path(home.after.enter_context(tempfile.TemporaryDirectory()))
    service = home.after.enter_context(started(home.registry.path, place, *options))
    home.url = service.url
    assert home.found() == {}
    for new, old in zip(pair(home.path / "new", 90), ingested, strict=True):
        shutil.copyfile(new, old)


FAULTS: dict[str, tuple[Callable[[Home], Any], str, str]] = {
    "a directory is missing": (
        lambda home: shutil.rmtree(home.path / "log"),
        "directories",
        "there is no such directory",
    ),
    "the traces cannot be read": (chmod("traces", 0o000), "directories", "cannot be read by"),
    "the datasets cannot be written": (
        chmod("datasets", 0o550),
        "directories",
        "cannot be read and written by",
    ),
    "the configuration is closed to the user": (
        chmod("birthmark.toml", 0o000),
        "directories",
        "who needs",
    ),
    "a command ran as root": (belongs_to_root, "directories", "belongs to another user"),
    "datasets are open to all": (chmod("datasets", 0o755), "secrets", "names or contents of files"),
    "tokens are open to all": (
        lambda home: tokens(home, 0o644),
        "secrets",
        "is a secret that all users can read",
    ),
    "tokens are closed to the user": (
        lambda home: tokens(home, 0o000),
        "secrets",
        f"is closed to {USER}",
    ),
    "tokens are damaged": (
        lambda home: tokens(home, 0o640, "{"),
        "secrets",
        "expected a list of tokens",
    ),
    "tokens are missing": (
        lambda home: home.set(f"BIRTHMARK_TOKENS={home.path}/none"),
        "secrets",
        "there is no such file",
    ),
    "the certificate has expired": (
        lambda home: certified(home, -1),
        "certificate",
        "clients refuse it: certificate has expired",
    ),
    "the certificate is not valid yet": (
        lambda home: certified(home, 90, since=1),
        "certificate",
        "clients refuse it: certificate is not yet valid",
    ),
    "the certificate expires soon": (
        lambda home: certified(home, 13.9),
        "certificate",
        "expires at 20",
    ),
    "the certificate's key is of another": (other_key, "certificate", "KEY_VALUES_MISMATCH"),
    "the certificate is closed to the user": (
        closed_certificate,
        "certificate",
        f"is closed to {USER}",
    ),
    "the certificate is missing": (
        lambda home: certified(home, 90)[0].unlink(),
        "certificate",
        "there is no such file",
    ),
    "the certificate was renewed, and is not served": (
        renewed,
        "certificate",
        "still presents another certificate",
    ),
    "a dataset is of the future": (lambda home: reaches(home, 9), "clock", "after this host's"),
    "a version is of the future": (from_the_future, "clock", "was made at"),
    "the clock was set back since the last night": (
        lambda home: home.report(began=datetime.now(UTC) + DAY, ended=datetime.now(UTC) + DAY),
        "clock",
        "the last night began at",
    ),
    "a disk has no room for a week": (
        lambda home: home.report(written=1 << 50),
        "space",
        "7 nights",
    ),
    "a disk is small": (lambda home: small_disk(home, "64M"), "space", "free on its disk"),
    "a disk has no room for files": (
        lambda home: small_disk(home, "4G", "nr_inodes=200"),
        "space",
        "more files on its disk",
    ),
    "the capture has stopped": (
        lambda home: ended(home.path / "traces", 5),
        "capture",
        "the newest trace was written 5 days ago",
    ),
    "nothing was captured": (
        lambda home: (home.path / "traces" / "day0.txt").unlink(),
        "capture",
        "there is no trace",
    ),
    "only one direction is captured": (
        lambda home: home.take_in("half.txt", lines(1, lambda _, line: " C3 " in line)),
        "capture",
        "hardly any replies",
    ),
    "the capture is of another port": (
        lambda home: home.take_in("empty.pcap", capture_in(home.path)[:24]),
        "capture",
        "hold no NFS",
    ),
    "the capture is encrypted": (
        lambda home: home.take_in("tls.pcap", captures.tls(7)),
        "capture",
        "is encrypted by TLS",
    ),
    "the capture cuts packets": (
        lambda home: home.take_in("cut.pcap", cut(capture_in(home.path), 200)),
        "capture",
        "were cut by the capture",
    ),
    "the capture loses messages": (
        lambda home: home.take_in("lossy.txt", lines(1, lambda n, _: n % 4 != 1)),
        "capture",
        "were lost on the way",
    ),
    "no follower writes its status": (
        lambda home: (home.path / "followed" / ".status.json").unlink(),
        "follower",
        "no follower writes",
    ),
    "the follower is dead": (
        lambda home: home.follows(now=(datetime.now(UTC) - DAY).isoformat()),
        "follower",
        "the follower's last status is of",
    ),
    "the follower is behind": (
        lambda home: home.follows(lag=61.0),
        "follower",
        "61 s behind the traffic",
    ),
    "the follower's capture drops packets": (
        lambda home: home.follows(dropped=5),
        "follower",
        "dropped 5 packets",
    ),
    "the live history is gone": (
        lambda home: (home.path / "run" / "history").unlink(),
        "follower",
        "the live history is not used",
    ),
    "the live history is stale": (
        lambda home: home.set("BIRTHMARK_HISTORY_AGE=0.000001"),
        "follower",
        "the live history is not used",
    ),
    "a run that was killed left remains": (
        lambda home: left(home.path / "datasets" / ".incoming" / "abc"),
        "datasets",
        "a run that was killed left 1 thing",
    ),
    "a night hangs": (hangs, "datasets", "a night has been at work since"),
    "a table was cut": (
        lambda home: os.truncate(table(home), 100),
        "datasets",
        "has 100 bytes; expected",
    ),
    "a table is gone": (lambda home: table(home).unlink(), "datasets", "is gone; expected"),
    "nothing is published": (
        lambda home: (home.path / "registry" / "current").unlink(),
        "registry",
        "nothing is published",
    ),
    "the pointer is damaged": (
        lambda home: (home.path / "registry" / "current").write_text("none"),
        "registry",
        "its pointer is damaged",
    ),
    "the published version is damaged": (
        lambda home: flipped(home.registry.directory(home.registry.published()) / "model.image"),
        "registry",
        "the published version is damaged",
    ),
    "the published version is of an earlier release": (
        older,
        "registry",
        "is of an earlier release",
    ),
    "somebody holds the registry's lock": (
        lambda home: home.after.enter_context(durable.locked(home.path / "registry" / ".lock")),
        "registry",
        "a process has held its lock",
    ),
    "no night was run": (
        lambda home: (home.path / "registry" / STATE).unlink(),
        "nights",
        "no night was run yet",
    ),
    "the last night failed": (failed, "nights", "/srv/datasets: disk is full"),
    "the last night was killed": (
        lambda home: Recorder(home.registry, home.path / "datasets"),
        "nights",
        "was killed",
    ),
    "no night has come": (
        lambda home: home.report(succeeded=datetime.now(UTC) - 5 * DAY),
        "nights",
        "no night has succeeded recently",
    ),
    "the last night refused traces": (
        lambda home: home.report(did={"refused": 2}),
        "nights",
        "refused 2 traces or directories",
    ),
    "datasets are left out": (
        lambda home: home.report(did={"left_out": 1}),
        "nights",
        "1 dataset of the last night is left out",
    ),
    "the service is not there": (
        lambda home: setattr(home, "url", closed_port()),
        "service",
        "does not answer",
    ),
    "the service has no model": (no_model, "service", "has no usable model"),
    "the service answers from another version": (another_version, "service", "is published"),
    "a unit is missing": (
        lambda home: (home.path / "units" / "birthmark-follow.service").unlink(),
        "units",
        "is missing",
    ),
    "a unit is of another configuration": (
        lambda home: flipped(home.path / "units" / "birthmark.service"),
        "units",
        "differs from this release's unit",
    ),
    "the timer is off": (
        lambda home: (home.path / "units/timers.target.wants/birthmark-nightly.timer").unlink(),
        "units",
        "the timer is not enabled",
    ),
}
"""By what is wrong: what makes it so, the check that finds it, and what that says."""

WITH_IT = {
    "the service answers from another version": {"registry"},
    "the certificate was renewed, and is not served": {"service"},  # it is not trusted here now
}
"""Other checks that also find a fault."""

AS_ROOT = {"the configuration is closed to the user"}
"""Faults that only the superuser can look for: others cannot read the configuration either."""


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_and_no_other(home: Home, fault: str) -> None:
    if fault in AS_ROOT and not IS_ROOT:
        pytest.skip("needs root, which reads a configuration that is closed to the user")
    make, check, says = FAULTS[fault]
    make(home)
    found = home.found()
    assert check in found, found
    assert any(says in each["what"] for each in found[check]), found
    assert found.keys() <= {check} | WITH_IT.get(fault, set()), found
    assert all(each["where"] and each["do"] for each in found[check])
    code, printed = home.doctor()
    assert code == FAILED
    assert printed.splitlines()[0].endswith(f"found: {', '.join(found)}.")


def test_a_service_that_has_not_loaded_the_last_refresh_is_no_fault(home: Home) -> None:
    copy = shutil.copytree(home.path / "registry", home.path / "another")
    home.after.enter_context(serving(home, copy))
    base = home.registry.published()

    def write(to: Path) -> None:
        shutil.copytree(home.registry.directory(base), to, dirs_exist_ok=True)
        (to / "manifest.json").unlink()

    home.registry.refresh(write, home.registry.manifest(base))
    own(home.path / "registry")
    assert "service" not in home.found()


@pytest.mark.parametrize("closed", ["traces", "datasets"])
def test_a_folder_that_this_user_cannot_list_is_not_taken_for_an_empty_one(
    home: Home, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    for each in (home.path / closed).iterdir():  # root lists what is closed, too
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    may = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: Path(path).name != closed and may(path, mode)
    )
    found = list(traffic.capture(Examined(_site(home.config))))
    expected = f"{home.path / closed} cannot be listed by this user"
    assert [each.what for each in found if expected in each.what]
    assert not [each.what for each in found if "there is no" in each.what]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[traces\n", "expected"),
        (CONFIG + "[nightly]\n", "nightly: there is no such setting"),
        (CONFIG.replace("[audit]\nlog", "[audit]\nlgo"), "did you mean 'log'"),
    ],
)
def test_a_configuration_that_cannot_be_read_is_reported_at_once(
    home: Home, text: str, says: str
) -> None:
    home.config.write_text(text)
    code, printed = home.doctor()
    assert code == MISCONFIGURED
    assert says in printed
    assert "birthmark.toml" in printed


def test_an_unknown_setting_of_the_service_is_reported_at_once(home: Home) -> None:
    home.set("BIRTHMARK_TOKNES=/etc/tokens.json")
    code, printed = home.doctor()
    assert code == MISCONFIGURED
    assert "serve.env: BIRTHMARK_TOKNES: there is no such setting" in printed


def test_it_changes_nothing(home: Home) -> None:
    def state() -> dict[str, tuple[int, int, float]]:
        found = {}
        for each in home.path.rglob("*"):
            status = each.lstat()
            found[str(each)] = (stat.S_IMODE(status.st_mode), status.st_uid, status.st_mtime)
        return found

    before = state()
    home.doctor()
    assert state() == before
