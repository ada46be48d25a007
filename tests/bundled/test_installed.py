"""The program as it lies in an installation, apart from any checkout."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
import tourney_runner

CHECKOUT = Path(__file__).parents[2]
CONFIG = """
name: Installed
game: tienlen
seed: 1
bots: [{bot: BOTS/greedy, trusted: true}, {bot: BOTS/random, trusted: true}]
rules: {players: 2}
schedule: {rounds: 1}
time: {start: 30s, move: 10s}
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the files that a wheel carries.

    The other packages are those of this environment.
    """
    prefix = tmp_path_factory.mktemp("installed") / "env"
    venv.create(prefix, symlinks=True)
    packages = next(prefix.glob("lib/python3*/site-packages"))
    package = Path(tourney_runner.__file__).parent
    shutil.copytree(
        package, packages / "tourney_runner", ignore=shutil.ignore_patterns("__pycache__")
    )
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for source, target in included.items():
        place = packages / target
        place.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (CHECKOUT / source).is_dir() else shutil.copy)(CHECKOUT / source, place)
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return prefix / "bin/python"


def run(python: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "tourney_runner", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_bundled_bots_of_an_installation_play(python: Path, tmp_path: Path) -> None:
    package = next(python.parents[1].glob("lib/python3*/site-packages/tourney_runner"))
    config = CONFIG.replace("BOTS", str(package / "_bundled/bots"))
    (tmp_path / "first.yaml").write_text(config)
    ended = run(python, tmp_path, "run", "first.yaml")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "greedy" in ended.stdout


def test_the_bundled_configuration_is_found_by_its_name(python: Path, tmp_path: Path) -> None:
    ended = run(python, tmp_path, "plan", "quickstart.yaml")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "planner-2" in ended.stdout


def test_a_kit_of_an_installation_becomes_a_bot(python: Path, tmp_path: Path) -> None:
    ended = run(python, tmp_path, "new", "python", "mybot")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "mybot/bot.yaml").is_file()


def test_a_bot_in_the_environment_of_the_program_does_not_show_all_of_it(
    python: Path, tmp_path: Path
) -> None:
    """An environment with bots in it is more than an installation, so bots do not see it."""
    folder = python.parents[1] / "bots/mine"
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text("")
    (folder / "bot.yaml").write_text('name: mine\ncommand: ["{python}", bot.py]\n')
    config = CONFIG.replace("{bot: BOTS/greedy, trusted: true}", f"{folder}")
    package = next(python.parents[1].glob("lib/python3*/site-packages/tourney_runner"))
    (tmp_path / "first.yaml").write_text(config.replace("BOTS", str(package / "_bundled/bots")))
    ended = run(python, tmp_path, "run", "first.yaml")
    assert ended.returncode == 2
    assert "a bot may not use this" in ended.stderr + ended.stdout
