"""One configuration file for a site, which the commands read alike."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from birthmark import exits
from birthmark.cli import app
from birthmark.commands.train import own_of
from birthmark.doctor.site import Site as Examined
from birthmark.install import Site
from birthmark.serving.log import service_log
from birthmark.serving.server import follower
from birthmark.serving.settings import Settings, mistaken
from birthmark.site_file import SHARED, SiteConfig, SiteFile
from birthmark.training.config import ConfigError, read_config, read_sections

NIGHT = """
[traces]
files = ["traces/*"]
[datasets]
directory = "datasets"
[registry]
directory = "registry"
[audit]
log = "log"
"""
FOLLOW = """
[follow]
datasets = "followed"
source = "captures"
history = "run/history"
status = "status.json"
until_idle = 0.1
"""
SERVE = """
[serve]
port = 9000
log_access = true
tokens = "/etc/birthmark/tokens"
"""

Run = Callable[..., Result]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Return a whole configuration, in another directory than the working one."""
    return written(tmp_path, NIGHT + FOLLOW + SERVE)


def written(folder: Path, text: str) -> Path:
    path = folder / "site" / "birthmark.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, **variables: object) -> Result:
        environment = {name: str(value) for name, value in variables.items()}
        return CliRunner().invoke(app, [str(each) for each in arguments], env=environment)

    return run


@pytest.fixture
def serve(run: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Settings]:
    """Return a function that runs `birthmark serve`, and returns the settings that it has read."""
    found: list[Settings] = []

    def served(settings: Settings, say: Any, config_file: Path | None = None) -> None:
        found.append(settings)

    monkeypatch.setattr("birthmark.serving.server.run.run", served)
    monkeypatch.setattr(service_log, "set_up", lambda settings: None)

    def serve(*arguments: object, **variables: object) -> Settings:
        done = run("serve", *arguments, **variables)
        assert done.exit_code == 0, done.output
        return found.pop()

    return serve


def test_serve_reads_its_section_with_paths_from_the_files_directory(
    serve: Callable[..., Settings], config: Path
) -> None:
    site = config.parent
    settings = serve("--config", config)
    assert (settings.port, settings.log_access) == (9000, True)
    assert settings.tokens == Path("/etc/birthmark/tokens")
    shared = {name for section, name in SHARED if section == "serve"}
    assert settings.model_dump(include=shared) == {
        "registry": site / "registry",
        "history": site / "run" / "history",
        "followed": site / "followed",
        "log_predictions": site / "log",
    }
    assert settings.poll_seconds == Settings().poll_seconds
    assert serve(BIRTHMARK_CONFIG=config) == settings
    assert serve() == Settings()


@pytest.mark.parametrize(
    ("options", "variables", "port"),
    [
        ((), {}, 9000),
        ((), {"BIRTHMARK_PORT": 9001}, 9001),
        (("--port", 9002), {"BIRTHMARK_PORT": 9001}, 9002),
        (("--port", 9002), {}, 9002),
        (("--port", Settings().port), {"BIRTHMARK_PORT": 9001}, Settings().port),
        (("--port", Settings().port), {}, Settings().port),
    ],
)
def test_an_option_wins_over_the_variable_the_variable_over_the_file_the_file_over_the_default(
    serve: Callable[..., Settings],
    config: Path,
    options: tuple[object, ...],
    variables: Mapping[str, object],
    port: int,
) -> None:
    assert serve("--config", config, *options, **variables).port == port
    assert serve(*options, BIRTHMARK_CONFIG=config, **variables).port == port


def test_the_option_wins_over_the_variable_that_names_the_file(
    serve: Callable[..., Settings], config: Path
) -> None:
    assert serve("--config", config, BIRTHMARK_CONFIG=config.parent / "none").port == 9000


def test_an_option_turns_off_what_the_file_turns_on(
    serve: Callable[..., Settings], config: Path
) -> None:
    assert not serve("--config", config, "--no-log-access").log_access
    assert not serve("--config", config, BIRTHMARK_LOG_ACCESS="false").log_access


def test_a_section_states_otherwise_what_it_shares(
    serve: Callable[..., Settings], tmp_path: Path
) -> None:
    config = written(tmp_path, NIGHT + '[serve]\nregistry = "s3://bucket/models"\n')
    assert serve("--config", config).registry == "s3://bucket/models"
    config = written(
        tmp_path, NIGHT + '[serve]\nregistry = "copy"\nlog_predictions = "elsewhere"\n'
    )
    settings = serve("--config", config)
    assert settings.registry == config.parent / "copy"
    assert settings.log_predictions == config.parent / "elsewhere"


def test_serve_and_follow_need_no_section_of_the_night(
    serve: Callable[..., Settings], tmp_path: Path
) -> None:
    assert serve("--config", written(tmp_path, "")) == Settings()
    registry = written(tmp_path, '[registry]\ndirectory = "s3://bucket/models"\n')
    assert serve("--config", registry).registry == "s3://bucket/models"


def test_follow_reads_source_output_and_settings_from_the_file(run: Run, config: Path) -> None:
    site = config.parent
    for name in ("captures", "run", "other"):
        (site / name).mkdir(mode=0o700)
    done = run("follow", BIRTHMARK_CONFIG=config)
    assert done.exit_code == 0, done.output
    assert json.loads((site / "status.json").read_bytes())["out"] == str(site / "followed")
    assert (site / "run" / "history").is_file()
    assert str(site / "registry") in done.stderr, "it warns that nothing is published there"
    options = ("--status", site / "option.json", "--registry", site / "none", "--config", config)
    done = run("follow", site / "captures", site / "other", *options)
    assert done.exit_code == 0, done.output
    assert json.loads((site / "option.json").read_bytes())["out"] == str(site / "other")
    assert str(site / "none") in done.stderr
    assert run("follow", "--config", written(site, NIGHT)).exit_code == 2, "no source is given"


def test_the_services_follower_reads_the_file_too(
    run: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(follower, "_ProcessSupervisor", lambda command: started.append(command))
    monkeypatch.setattr(service_log, "set_up", lambda settings: None)
    (config.parent / "registry").mkdir()
    (config.parent / "log").mkdir()
    config.write_text(config.read_text().replace("tokens", "# tokens") + "follow = 'captures'\n")
    run("serve", "--config", config, "--port", 0)  # ends as its follower is none
    (command,) = started
    assert command[3:6] == [
        "follow",
        str(config.parent / "captures"),
        str(config.parent / "followed"),
    ]
    assert command[-2:] == ["--config", str(config)]


def test_nightly_install_and_doctor_read_the_same_file(run: Run, config: Path) -> None:
    (config.parent / "traces").mkdir()
    assert run("nightly", "--dry-run", "--config", config).exit_code == 0
    for command in (("nightly", "--dry-run"), ("install", "systemd"), ("install", "freebsd")):
        named, found = run(*command, "--config", config), run(*command, BIRTHMARK_CONFIG=config)
        assert found.exit_code == 0, found.output
        assert found.stdout == named.stdout
        assert run(*command).exit_code == 2, "the file is required"
    doctor = run("doctor", "--no-service", "--json", BIRTHMARK_CONFIG=config)
    assert "/etc/birthmark/tokens" in doctor.stdout, "the secrets of the service are checked"


def test_doctor_finds_the_settings_that_the_service_has(config: Path, tmp_path: Path) -> None:
    installed = Site(config, read_config(config, SiteConfig), "daemon")
    units = tmp_path / "units"
    assert Examined(installed, units=units).settings == installed.settings.serve
    (config.parent / "serve.env").write_text("BIRTHMARK_PORT=9001\n")
    settings = Examined(installed, units=units).settings
    assert (settings.port, settings.log_access) == (9001, True)


BAD = [
    ("[serv]\n", r"serv: there is no such setting \(did you mean 'serve'\?\)"),
    ("[serve]\nprot = 1\n", r"serve\.prot: .*did you mean 'port'.*poll_seconds"),
    ("[serve]\nport = 65536\n", r"serve\.port: .*less than or equal to 65535, found 65536"),
    ("[serve]\nssl_certfile = 'c'\n", r"serve: ssl_certfile and ssl_keyfile: expected both"),
    ("[serve]\nreceive = true\n", r"serve: receive: expected history, too"),
    ("[follow]\ndatasets = 'd'\nmemry = 64\n", r"follow\.memry: .*did you mean 'memory'"),
    ("[follow]\ndatasets = 'd'\nmemory = 1\n", r"follow\.memory: .*equal to 64, found 1"),
    ("[follow]\nmemory = 64\n", r"follow\.datasets: Field required"),
    ("serve = 3\n", r"serve: .*found 3"),
    ("[serve\n", r"expected a TOML file: .*line"),
]
COMMANDS = ["serve", "follow", "nightly", "install systemd", "doctor"]


@pytest.mark.parametrize(("text", "reason"), BAD)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_error_names_the_file_the_key_and_what_was_expected(
    run: Run, tmp_path: Path, command: str, text: str, reason: str
) -> None:
    config = written(tmp_path, text + NIGHT)
    done = run(*command.split(), "--config", config)
    assert done.exit_code == exits.MISCONFIGURED
    assert re.search(f"birthmark: {config}: {reason}", done.stderr), done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_is_missing_is_named(run: Run, command: str) -> None:
    for done in (
        run(*command.split(), "--config", "none.toml"),
        run(*command.split(), BIRTHMARK_CONFIG="none.toml"),
    ):
        assert done.exit_code == exits.MISCONFIGURED
        assert "none.toml: expected a TOML file: " in done.stderr


def test_a_wrong_registry_is_one_error_and_not_one_of_each_section(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_sections(written(tmp_path, "[registry]\ndirectory = 3\n"), SiteFile)
    assert not any("serve" in reason for reason in caught.value.reasons)


def test_the_service_runs_no_code_of_the_user(
    serve: Callable[..., Settings], run: Run, tmp_path: Path
) -> None:
    own = '[[estimators]]\nkind = "own"\nclass = "no_such_module:Own"\n'
    config = written(tmp_path, NIGHT + own + "[serve]\nport = 9000\n")
    assert serve("--config", config).port == 9000
    refused = run("nightly", "--dry-run", "--config", config)
    assert refused.exit_code == exits.MISCONFIGURED
    assert "estimators: " in refused.stderr


def test_train_takes_the_questions_of_a_file_with_other_sections(tmp_path: Path) -> None:
    own = '[[predicates]]\nname = "dot"\nsubject = "name"\ndescription = "a dot"\nsize_above = 1\n'
    predicates, _ = own_of(written(tmp_path, own + SERVE))
    assert "name:dot" in {predicate.key for predicate in predicates}


def test_the_variable_that_names_the_file_is_no_mistaken_setting() -> None:
    assert mistaken(["BIRTHMARK_CONFIG", "BIRTHMARK_PORT"]) == []


@pytest.mark.parametrize("command", ["serve", "follow"])
def test_help_names_the_section_and_the_variable(run: Run, command: str) -> None:
    shown = " ".join(run(command, "--help", COLUMNS=300).output.split())
    assert f"its section {command} is used [env var: BIRTHMARK_CONFIG]" in shown
