"""The files by which a system runs Birthmark are valid there, and hardened."""

from __future__ import annotations

import grp
import os
import pwd
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from benchmarks.soak import ALLOCATOR
from birthmark import exits
from birthmark.cli import app
from birthmark.install import FOLLOW_BASE, SYSTEMS, File, Site, files
from birthmark.install.access import closed
from birthmark.layout_hint.settings import Places
from birthmark.site_file import SiteConfig
from birthmark.training.config import Followed, read_config
from tests import needs

EXPOSURE = 2.0
"""The most of 10 that systemd may find a unit exposed by: below 3 it calls that OK."""

CONFIG = """
[traces]
files = ["/srv/traces/*"]
[follow]
source = "/srv/captures"
datasets = "/srv/birthmark/followed"
[datasets]
directory = "/srv/birthmark/datasets"
[registry]
directory = "{registry}"
[audit]
log = "/srv/birthmark/log"
[f2fs]
devices = ["sda1", "dm-0"]
"""


SENDS = """[follow]
send = "https://hints:8325"
send_token = "token"
"""


def site(
    directory: Path,
    socket: Path | None = None,
    registry: str = "/srv/birthmark/registry",
    follow: str = "[follow]\n",
) -> Site:
    config = directory / "birthmark.toml"
    config.write_text(CONFIG.format(registry=registry).replace("[follow]\n", follow))
    return Site(config, read_config(config, SiteConfig), "daemon", socket)


def made(system: str, site: Site) -> dict[str, File]:
    return {file.path.name: file for file in files(system, site)}


def directives(text: str) -> dict[str, list[str]]:
    """Return a unit's values by name."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", text, re.M):
        found.setdefault(name, []).append(value)
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.fixture
def analyze() -> str:
    return needs.program("systemd-analyze", "systemd")


LOG = ("--log-predictions", "birthmark.toml/log")
SOCKETS = [None, Path("/run/birthmark/socket"), Path("/srv/birthmark/run/socket")]


@pytest.mark.deep
@pytest.mark.parametrize("socket", SOCKETS, ids=str)
def test_systemd_takes_the_units_and_finds_them_tight(
    analyze: str, tmp_path: Path, socket: Path | None
) -> None:
    paths = []
    for file in made("systemd", site(tmp_path, socket)).values():
        # The program need not be where it will be: any that can be run is as good.
        text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", file.text, flags=re.M)
        paths.append(tmp_path / file.path.name)
        paths[-1].write_text(text)
    verified = subprocess.run(
        [analyze, "verify", "--man=no", *paths], capture_output=True, text=True
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    for path in paths:
        if path.suffix == ".service":
            threshold = f"--threshold={int(10 * EXPOSURE)}"
            found = subprocess.run(
                [analyze, "security", "--offline=true", "--no-pager", threshold, path],
                capture_output=True,
                text=True,
            )
            assert found.returncode == 0, found.stdout + found.stderr


def test_units_may_write_to_what_they_keep_and_no_more(tmp_path: Path) -> None:
    units = made("systemd", site(tmp_path, Path("/run/birthmark/socket")))
    serve = directives(units["birthmark.service"].text)
    night = directives(units["birthmark-nightly.service"].text)
    follow = directives(units["birthmark-follow.service"].text)
    stored = "/srv/birthmark"
    assert follow["ReadWritePaths"] == [f"{stored}/followed", f"{stored}/registry"]
    assert serve["ReadWritePaths"] == [f"{stored}/registry", f"{stored}/log"]
    assert night["ReadWritePaths"] == [f"{stored}/registry", f"{stored}/datasets"]
    assert serve["RuntimeDirectory"] == ["birthmark"]
    for unit in (serve, night, follow):
        assert unit["ProtectSystem"] == ["strict"]
        assert unit["NoNewPrivileges"] == unit["PrivateTmp"] == ["yes"]
        assert unit["CapabilityBoundingSet"] == [""]
        assert unit["SystemCallFilter"] == ["@system-service"]
        assert unit["PrivateNetwork"] == ["yes"], "a socket and local disks need none"


def test_a_unit_follows_where_the_settings_name_a_source(tmp_path: Path) -> None:
    of_source = site(tmp_path)
    (start,) = directives(made("systemd", of_source)["birthmark-follow.service"].text)["ExecStart"]
    assert start.split()[1:4] == ["follow", "--config", str(of_source.config)]
    assert "--status /srv/birthmark/followed/.status.json" in start
    serve = directives(made("systemd", of_source)["birthmark.service"].text)
    (history,) = (each for each in serve["Environment"] if each.startswith("BIRTHMARK_HISTORY="))
    assert f"--history {history.partition('=')[2]}" in start, "the service reads what is written"
    lone = of_source.settings.model_copy(update={"follow": None})
    units = made("systemd", replace(of_source, settings=lone))
    assert "birthmark-follow.service" not in units
    assert "BIRTHMARK_HISTORY" not in units["birthmark.service"].text


def test_a_follower_that_does_not_refresh_may_not_write_to_the_registry(tmp_path: Path) -> None:
    alone = site(tmp_path, follow="[follow]\nrefresh = false\n")
    unit = made("systemd", alone)["birthmark-follow.service"]
    assert directives(unit.text)["ReadWritePaths"] == ["/srv/birthmark/followed"]


def test_units_leave_to_the_configuration_what_it_states(tmp_path: Path) -> None:
    found = site(tmp_path, follow='[follow]\nhistory = "/srv/live/history"\nstatus = "/srv/s/s"\n')
    follow = directives(made("systemd", found)["birthmark-follow.service"].text)
    assert "RuntimeDirectory" not in follow
    assert follow["ReadWritePaths"] == [
        *("/srv/birthmark/followed", "/srv/live", "/srv/s", "/srv/birthmark/registry")
    ]
    assert "--status /srv/s/s --history /srv/live/history" in follow["ExecStart"][0]
    stated = '\n[serve]\nuds = "/run/birthmark/socket"\nthreads = 4\n'
    found.config.write_text(found.config.read_text() + stated)
    found = replace(found, settings=read_config(found.config, SiteConfig))
    serve = directives(made("systemd", found)["birthmark.service"].text)
    assert not any(each.startswith("BIRTHMARK_") for each in serve["Environment"])
    assert serve["ExecStart"][0].endswith(f" serve --config {found.config}")
    assert "PrivateNetwork" in serve, "a socket needs none"
    script = made("freebsd", found)["birthmark"].text
    assert "UDS" not in script
    assert "HISTORY" not in made("freebsd", site(tmp_path))["birthmark"].text, "nothing follows"
    assert f' serve --config {found.config}"' in script


def test_the_lists_of_f2fs_are_refreshed_after_a_night_where_the_settings_name_devices(
    tmp_path: Path,
) -> None:
    named = site(tmp_path)
    units = made("systemd", named)
    night = directives(units["birthmark-nightly.service"].text)
    assert night["OnSuccess"] == ["birthmark-f2fs@sda1.service", "birthmark-f2fs@dm-0.service"]
    lists = directives(units["birthmark-f2fs@.service"].text)
    assert lists["ExecStart"][0].split()[1:] == ["layout", "f2fs", "lists", "%i", "--write"]
    assert lists["Environment"] == ["BIRTHMARK_REGISTRY=/srv/birthmark/registry"]
    assert lists["ConditionPathExists"] == ["/sys/fs/f2fs/%i/extension_list"]
    assert (lists["User"], lists["Group"]) == (["root"], ["daemon"]), "no other may write there"
    stored = Places.model_fields["before"].default
    assert [f"/var/lib/{own}" for own in lists["StateDirectory"]] == [str(stored)]
    assert lists["ProtectKernelTunables"] == ["no"], "the lists are one"
    assert night["ProtectKernelTunables"] == ["yes"]
    lone = named.settings.model_copy(update={"f2fs": None})
    units = made("systemd", replace(named, settings=lone))
    assert "birthmark-f2fs@.service" not in units
    assert "OnSuccess" not in directives(units["birthmark-nightly.service"].text)


@pytest.mark.parametrize("device", ["/dev/sda1", "a b", "", "%i", "-x"])
def test_a_device_that_is_no_name_is_refused(tmp_path: Path, device: str) -> None:
    config = site(tmp_path).config
    config.write_text(config.read_text().replace('"sda1"', f'"{device}"'))
    with pytest.raises(ValueError, match=r"f2fs\.devices"):
        read_config(config)


def test_a_unit_tells_a_service_on_another_host(tmp_path: Path) -> None:
    alone = directives(made("systemd", site(tmp_path))["birthmark-follow.service"].text)
    assert "PrivateNetwork" in alone
    units = made("systemd", site(tmp_path, follow=SENDS))
    sending = directives(units["birthmark-follow.service"].text)
    assert "PrivateNetwork" not in sending
    with pytest.raises(ValueError, match="send: expected source or history, too"):
        Followed(datasets=Path("followed"), send="https://hints:8325")


@pytest.mark.parametrize("socket", SOCKETS, ids=str)
def test_the_service_has_a_place_for_a_history_that_it_receives(
    tmp_path: Path, socket: Path | None
) -> None:
    serve = directives(made("systemd", site(tmp_path, socket))["birthmark.service"].text)
    assert serve["RuntimeDirectory"] == ["birthmark"]


def test_the_service_has_the_allocator_that_the_soak_measures(tmp_path: Path) -> None:
    serve = directives(made("systemd", site(tmp_path))["birthmark.service"].text)
    assert " ".join(f"{name}={value}" for name, value in ALLOCATOR.items()) in serve["Environment"]


def test_the_service_has_a_limit_of_memory_and_is_restarted_at_once(tmp_path: Path) -> None:
    units = made("systemd", site(tmp_path))
    serve = directives(units["birthmark.service"].text)
    assert serve["EnvironmentFile"] == [f"-{tmp_path}/serve.env"]
    assert serve["MemoryMax"] == ["800M"]
    assert (serve["Restart"], serve["RestartSec"]) == (["on-failure"], ["100ms"])
    night = directives(units["birthmark-nightly.service"].text)
    assert "MemoryMax" not in night, "what a night takes grows with the files that live"


def test_the_follower_has_the_memory_of_its_budget_and_of_its_program(tmp_path: Path) -> None:
    for follow, budget in (("[follow]\n", 800), ("[follow]\nmemory = 300\n", 300)):
        units = made("systemd", site(tmp_path, follow=follow))
        unit = directives(units["birthmark-follow.service"].text)
        assert unit["MemoryMax"] == [f"{budget + FOLLOW_BASE}M"]


def test_units_may_use_the_network_where_something_is_asked_there(tmp_path: Path) -> None:
    tcp = made("systemd", site(tmp_path))
    assert "PrivateNetwork" not in directives(tcp["birthmark.service"].text)
    assert "PrivateNetwork" in directives(tcp["birthmark-nightly.service"].text)
    bucket = made("systemd", site(tmp_path, SOCKETS[1], "s3://bucket/models"))
    for name in ("birthmark.service", "birthmark-nightly.service"):
        assert "PrivateNetwork" not in directives(bucket[name].text)
        assert not any("s3:" in p for p in directives(bucket[name].text)["ReadWritePaths"])


def test_a_run_that_cannot_succeed_is_not_tried_again(tmp_path: Path) -> None:
    units = made("systemd", site(tmp_path))
    night = directives(units["birthmark-nightly.service"].text)
    assert night["Restart"] == ["on-failure"]
    assert night["SuccessExitStatus"] == [str(exits.BUSY)]
    assert night["RestartPreventExitStatus"] == [f"2 {exits.REFUSED} {exits.MISCONFIGURED}"]


@pytest.mark.parametrize("socket", SOCKETS, ids=str)
def test_shells_take_the_scripts(tmp_path: Path, socket: Path | None) -> None:
    for file in made("freebsd", site(tmp_path, socket)).values():
        path = tmp_path / file.path.name
        path.write_text(file.text)
        checked = subprocess.run(["sh", "-n", path], capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.deep
@pytest.mark.parametrize("socket", SOCKETS, ids=str)
def test_shellcheck_finds_nothing_in_the_scripts(tmp_path: Path, socket: Path | None) -> None:
    shellcheck = needs.program("shellcheck")
    # rc.subr is FreeBSD's; it reads most of what an rc.d script sets.
    ignored = "--exclude=SC1091,SC2034"
    for file in made("freebsd", site(tmp_path, socket)).values():
        path = tmp_path / file.path.name
        path.write_text(file.text)
        found = subprocess.run([shellcheck, ignored, path], capture_output=True, text=True)
        assert (found.returncode, found.stdout) == (0, "")


@pytest.mark.parametrize(
    ("night", "periodic"),
    [(0, 0), (exits.BUSY, 0), (exits.REFUSED, 1), (exits.MISCONFIGURED, 2), (2, 2), (1, 3)],
)
def test_the_periodic_script_exits_as_periodic_wants(
    tmp_path: Path, night: int, periodic: int
) -> None:
    script = made("freebsd", site(tmp_path))["500.birthmark"]
    (tmp_path / "su").write_text(f'#!/bin/sh\necho "$@"\nexit {night}\n')
    (tmp_path / "su").chmod(0o755)
    (tmp_path / "script").write_text(script.text)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "daily_birthmark_enable": "YES"}
    done = subprocess.run(
        ["sh", tmp_path / "script"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == periodic, done.stderr
    assert f"nightly --config {tmp_path}/birthmark.toml" in done.stdout
    off = subprocess.run(["sh", tmp_path / "script"], env={"PATH": environment["PATH"]})
    assert off.returncode == 0


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_command_prints_what_it_otherwise_writes(tmp_path: Path, system: str) -> None:
    config = site(tmp_path).config
    options = ("install", system, "--config", str(config), "--user", "daemon")
    printed = run(*options)
    written = run(*options, "--out", str(tmp_path / "out"))
    expected = files(system, site(tmp_path))
    assert printed.stdout == "".join(f"# {file.path}\n{file.text}\n" for file in expected)
    assert written.stdout.splitlines() == [str(tmp_path / "out" / f.path.name) for f in expected]
    for file in expected:
        path = tmp_path / "out" / file.path.name
        assert path.read_text() == file.text
        assert path.stat().st_mode & 0o777 == file.mode


def test_paths_that_would_need_quotes_are_refused(tmp_path: Path) -> None:
    good = site(tmp_path)
    with pytest.raises(ValueError, match="expected a user's name"):
        Site(good.config, good.settings, "root; reboot")
    for path in (Path("/run/a b"), Path("/run/$HOME"), Path("/run/%i"), Path("relative")):
        with pytest.raises(ValueError, match="needs no quotes"):
            Site(good.config, good.settings, "daemon", path)


def test_a_socket_has_a_directory_of_its_own(tmp_path: Path) -> None:
    """Its directory is given to the user, and others cannot see what is in /tmp of a service."""
    good = site(tmp_path)
    for path in ("/run/birthmark.sock", "/var/run/birthmark.sock", "/tmp/birthmark/socket"):
        with pytest.raises(ValueError, match="a separate directory"):
            Site(good.config, good.settings, "daemon", Path(path))


def test_the_rc_script_takes_no_directory_over(tmp_path: Path) -> None:
    text = made("freebsd", site(tmp_path, Path("/var/run/birthmark/socket")))["birthmark"].text
    function = re.search(r"^birthmark_prestart\(\).*?^}$", text, re.M | re.S)
    assert function is not None
    here = function[0].replace("/var/run/birthmark", str(tmp_path / "run"))
    program = f'install() {{ echo "$@"; }}\n{here}\nbirthmark_prestart\n'

    def created() -> str:
        return subprocess.run(
            ["sh", "-c", program], check=True, capture_output=True, text=True
        ).stdout

    assert created() == f"-d -o daemon -g daemon -m 0750 {tmp_path}/run\n"
    (tmp_path / "run").mkdir()
    assert created() == ""


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a directory that everybody may come to, as not all of pytest's are."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def test_install_warns_of_what_is_not_there_and_of_what_the_user_may_not_read(place: Path) -> None:
    config = place / "closed" / "birthmark.toml"
    config.parent.mkdir(mode=0o700)
    config.write_text(CONFIG.format(registry=place))
    warned = run("install", "systemd", "--config", str(config), "--user", "nobody")
    assert warned.exit_code == 0
    assert f"{config.parent} is closed to nobody, who needs {config}\n" in warned.stderr
    assert "/srv/birthmark/datasets is not there: make it\n" in warned.stderr
    assert f"{place} is not there" not in warned.stderr
    config.parent.chmod(0o711)
    config.chmod(0o600)
    assert closed("nobody", config) == config
    assert closed("root", config) is None
    assert closed(pwd.getpwuid(config.stat().st_uid).pw_name, config) is None
    assert closed("nobody", place / "none") is None


def test_a_user_who_is_yet_to_be_made_has_the_group_of_that_name(place: Path) -> None:
    users = {user.pw_name for user in pwd.getpwall()}
    mine = [g for g in grp.getgrall() if os.geteuid() == 0 or g.gr_gid in os.getgroups()]
    group = next((group for group in mine if group.gr_name not in users), None)
    if group is None:
        pytest.skip("every group here is called as a user is")
    file = place / "file"
    file.touch()
    os.chown(file, -1, group.gr_gid)
    for mode, is_closed in ((0o640, False), (0o600, True), (0o604, True)):
        file.chmod(mode)
        assert (closed(group.gr_name, file) is not None) is is_closed


def test_exit_codes_tell_a_wrong_configuration_from_another_run_at_work(tmp_path: Path) -> None:
    import fcntl

    config = tmp_path / "birthmark.toml"
    for command in (("nightly",), ("install", "systemd")):
        assert run(*command, "--config", str(config)).exit_code == exits.MISCONFIGURED
    config.write_text(
        '[traces]\nfiles = ["traces/*"]\nsettle_seconds = 0\n'
        '[datasets]\ndirectory = "datasets"\n[registry]\ndirectory = "registry"\n'
    )
    absent = run("nightly", "--config", str(config))
    assert absent.exit_code == exits.REFUSED
    assert f"{tmp_path}/traces: is not a directory" in absent.stdout
    (tmp_path / "traces").mkdir()
    quiet = run("nightly", "--config", str(config))
    assert quiet.exit_code == 0
    assert f"{tmp_path}/traces/*: no file matches; {tmp_path}/traces is empty" in quiet.stderr
    with (tmp_path / "datasets/.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        busy = run("nightly", "--config", str(config))
    assert busy.exit_code == exits.BUSY
    assert "another process holds this lock" in busy.stderr
    (tmp_path / "traces/none").write_text("no trace\n")
    refused = run("nightly", "--config", str(config))
    assert refused.exit_code == exits.REFUSED
    assert "refused" in refused.stdout


@pytest.mark.parametrize(
    "option", [("--tokens", "birthmark.toml"), ("--tokens", "none"), ("--tokens", "."), LOG]
)
def test_a_service_with_impossible_settings_is_misconfigured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "birthmark.toml").touch()
    refused = run("serve", "--registry", "registry", *option)
    assert refused.exit_code == exits.MISCONFIGURED
    assert f"birthmark: {option[1]}" in refused.stderr


def test_files_of_a_system_that_cannot_be_made_are_a_misconfiguration(tmp_path: Path) -> None:
    config = ("--config", str(site(tmp_path).config))
    for option in (("--socket", "/run/birthmark.sock"), ("--user", "root; reboot")):
        assert run("install", "systemd", *config, *option).exit_code == exits.MISCONFIGURED
