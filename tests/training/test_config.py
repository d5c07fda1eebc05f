from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.training.config import ConfigError, read_config

LEAST = """
[traces]
files = ["traces/*.txt", "/var/traces/*"]
[datasets]
directory = "datasets"
[registry]
directory = "/var/registry"
"""


def config(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "birthmark.toml"
    path.write_text(text)
    return path


def test_only_the_three_places_must_be_given_and_the_rest_has_the_thesiss_defaults(
    tmp_path: Path,
) -> None:
    """Figure 6.3: minfrac 0.8, mincount 5."""
    read = read_config(config(tmp_path, LEAST))
    assert (read.training.minfrac, read.training.mincount, read.training.prefix) == (0.8, 5, True)
    assert read.training.margin == 0
    assert read.training.window_days == 7
    assert (read.training.serve, read.training.point) == ("best", "bounded")
    assert (read.training.bound, read.training.confidence) == (0.01, 0.95)


def test_relative_paths_start_at_the_configuration_file(tmp_path: Path) -> None:
    read = read_config(config(tmp_path, LEAST))
    assert read.traces.files == [str(tmp_path / "traces/*.txt"), "/var/traces/*"]
    assert read.datasets.directory == tmp_path / "datasets"
    assert read.registry.directory == Path("/var/registry")


def test_relative_paths_of_what_is_followed_start_there_and_the_rest_of_it_stays(
    tmp_path: Path,
) -> None:
    follows = """[follow]
datasets = "followed"
source = "captures"
send = "https://nas1"
send_token = "token"
send_certificates = "/etc/ours.pem"
"""
    follow = read_config(config(tmp_path, LEAST + follows)).follow
    assert follow is not None
    assert (follow.datasets, follow.source) == (tmp_path / "followed", tmp_path / "captures")
    assert follow.send == "https://nas1"
    assert (follow.send_token, follow.send_certificates) == (
        tmp_path / "token",
        Path("/etc/ours.pem"),
    )


def test_servers_have_traces_of_their_own_in_place_of_traces_files(tmp_path: Path) -> None:
    servers = '[[servers]]\nname = "home"\nfiles = ["home/*", "/var/home/*"]\n'
    text = LEAST.replace('files = ["traces/*.txt", "/var/traces/*"]', "") + servers
    (server,) = read_config(config(tmp_path, text)).servers
    assert (server.name, server.files) == ("home", [str(tmp_path / "home/*"), "/var/home/*"])


@pytest.mark.parametrize(
    ("settings", "trained"),
    [
        ("", ("name", "able", "rules", "forest")),
        ('serve = "rules"', ("rules",)),
        ('serve = "forest"\nkinds = ["forest", "rules"]', ("rules", "forest")),
        ('kinds = ["rules", "forest"]', ("rules", "forest")),
    ],
)
def test_all_kinds_that_may_answer_are_trained_by_default(
    tmp_path: Path, settings: str, trained: tuple[str, ...]
) -> None:
    read = read_config(config(tmp_path, f"{LEAST}[training]\n{settings}\n"))
    assert read.training.trained == trained


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LEAST + '[training]\nkinds = ["rules"]\n', r'two or more for serve = "best"'),
        (LEAST + '[training]\nkinds = ["best", "rules"]\n', r"training\.kinds"),
        (LEAST + "[training]\nkinds = []\n", r"training\.kinds"),
        (LEAST + '[training]\nkinds = ["rules", "rules"]\n', r"kinds: expected no duplicates"),
        (
            LEAST + '[training]\nserve = "name"\nkinds = ["rules"]\n',
            r'kinds: expected "name", the value of serve',
        ),
        (
            LEAST + '[training]\nserve = "name"\n[f2fs]\ndevices = ["sda1"]\n',
            r'kinds: expected "rules", too',
        ),
        (LEAST.replace("[registry]", "keep_days = 6\n[registry]"), r"no less than .*window_days"),
        (LEAST + "keep_versions = 0\n", r"registry\.keep_versions"),
        (LEAST + "[training]\nminfraction = 0.9\n", r"training\.minfraction: there is no such"),
        (LEAST + "[trainings]\n", r"trainings: there is no such setting .* mean 'training'"),
        (LEAST + "[training]\nzoen = 'UTC'\n", r"training\.zoen: .*did you mean 'zone'"),
        (LEAST + "[[servers]]\nnam = 'a'\nfiles = ['*']\n", r"servers\.0\.nam: .*'name'.*files"),
        (LEAST + "[audit]\nlog = 'log'\nmath = []\n", r"audit\.math: .*did you mean 'match'"),
        (LEAST + "[training]\nminfrac = 1.5\n", r"training\.minfrac: .*less than.*, found 1\.5"),
        (
            LEAST + "[training]\nserve = 'rulez'\n",
            r"training\.serve: .*'name', 'able', 'rules', 'forest' or 'best'.*'rulez'",
        ),
        (LEAST.replace("[registry]", "[datasets.x]"), r"registry: Field required"),
        (LEAST + "[training\n", r"expected a TOML file: .*line"),
        (LEAST + "[[predicates]]\nnonsense = 1\n", r"predicates: "),
        (
            LEAST.replace("files", "# files"),
            r"toml: expected a source of traces: traces\.files, servers or follow",
        ),
        (LEAST + "[[servers]]\nname = 'a/b'\nfiles = ['*']\n", r"servers\.0\.name: .*'a/b'"),
        (
            LEAST + 2 * "[[servers]]\nname = 'a'\nfiles = ['*']\n",
            r"toml: servers: expected distinct names",
        ),
        (LEAST + "[engine]\nkind = 'dask'\n", r"engine: expected scheduler if, .*dask"),
        (LEAST + "[engine]\nscheduler = 'tcp://x:1'\n", r"engine: expected scheduler if, .*dask"),
        (
            LEAST + "[engine]\nkind = 'dask'\nscheduler = 'tcp://x:1'\nworkers = 3\n",
            r"engine: expected no workers: a Dask cluster",
        ),
    ],
)
def test_a_wrong_setting_is_refused_with_the_files_and_the_keys_name(
    tmp_path: Path, text: str, reason: str
) -> None:
    path = config(tmp_path, text)
    with pytest.raises(ConfigError, match=reason) as caught:
        read_config(path)
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: expected a TOML file"):
        read_config(tmp_path / "nowhere.toml")
