from __future__ import annotations

import json
import shlex
from shutil import which
from typing import TYPE_CHECKING

import pytest
import yaml
from authors_program import BOTS
from tourney_runner.cli.app import app
from tourney_runner.kits import KITS, kit_of
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pathlib import Path

    from authors_program import Program

LEAGUE = """\
game: speahx
rules: {players: 2, max_turns: 100}
bots: []
schedule: {rounds: 1}
match: {duplicate: false}
time: {start: 30s, move: 10s}
"""


def make(workshop: Program, language: str) -> Path:
    """A kit of its language, made once."""
    for program in KITS[language].programs:
        if which(program) is None:
            pytest.skip(f"the {language} kit needs {program}, which is not installed")
    folder = workshop.folder / f"my-{language}"
    if not folder.exists():
        done = workshop("new", language, folder.name)
        assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.parametrize("language", KITS)
def test_a_kit_runs_at_once_and_passes_every_check(workshop: Program, language: str) -> None:
    folder = make(workshop, language)
    workshop.write("trial.yaml", LEAGUE)
    done = workshop("check", folder.name, "--config", "trial.yaml", "--json")
    document = json.loads(done.stdout)
    assert [check for check in document["checks"] if check["verdict"] != "ok"] == []
    assert (done.returncode, document["passed"], document["bot"]) == (0, True, f"my-{language}")


def test_all_kits_are_ranked_in_a_tournament(workshop: Program) -> None:
    languages = [name for name, kit in KITS.items() if not kit.missing()]
    config = yaml.safe_load(LEAGUE)
    config["bots"] = [make(workshop, language).name for language in languages]
    workshop.write("kits.yaml", yaml.safe_dump(config))
    done = workshop("run", "kits.yaml", "--out", "kits")
    assert done.returncode == 0, done.stderr
    ranking = json.loads((workshop.folder / "kits" / "standings.json").read_text())
    assert {entrant["name"] for entrant in ranking["entrants"]} == {
        f"my-{language}" for language in languages
    }
    assert all(not entrant["faults"] for entrant in ranking["entrants"])


@pytest.mark.parametrize("language", KITS)
def test_a_kit_is_a_bundled_bot_under_another_name(tmp_path: Path, language: str) -> None:
    kit = tmp_path / "Zoë 2"
    made = CliRunner().invoke(app, ["new", language, str(kit), "--game", "speahx"])
    assert (made.exit_code, shlex.split(made.stdout)[-3:]) == (0, ["tourney", "check", str(kit)])
    assert "\n    tourney check 'Zoë 2' " in (kit / "README.md").read_text("utf-8")
    bundled = BOTS / KITS[language].folder
    names = {path.name for path in bundled.iterdir() if path.is_file()}
    assert {path.name for path in kit.iterdir()} == names | {"README.md"}
    for name in names - {"bot.yaml"}:
        assert (kit / name).read_bytes() == (bundled / name).read_bytes()
    ours, theirs = (yaml.safe_load((it / "bot.yaml").read_text()) for it in (kit, bundled))
    theirs.pop("author")
    assert ours == {**theirs, "name": "Zoë 2", "games": ["speahx"]}


WRONG = {
    "an unknown language": (("new", "pyton", "x"), "did you mean 'python'?"),
    "an unknown game": (("new", "c", "x", "--game", "whist"), "there is no game 'whist'"),
    "a folder in use": (("new", "c", "used"), "there is something here already"),
    "a name that is none": (("new", "c", "a\u202eb"), "the folder's name becomes the bot's"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_made_is_refused(
    tourney: Program, words: tuple[str, ...], message: str
) -> None:
    tourney.write("used/notes.txt", "mine")
    done = tourney(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert [path.name for path in tourney.folder.iterdir()] == ["used"]


def test_a_missing_toolchain_is_said_with_its_name(tourney: Program) -> None:
    bare = type(tourney)(tourney.folder, {**tourney.environment, "PATH": "/nowhere"})
    done = bare("new", "rust", "mine")
    assert done.returncode == 0
    assert "this machine lacks rustc" in done.stderr
    done = bare("check", "mine")
    assert done.returncode == 2
    assert "found 'rustc', there is no such program" in done.stderr


@pytest.mark.parametrize(
    ("alias", "language"),
    [
        ("py", "python"),
        ("JS", "javascript"),
        ("ts", "typescript"),
        ("c++", "cpp"),
        ("bash", "shell"),
    ],
)
def test_a_language_is_known_by_its_usual_short_names(alias: str, language: str) -> None:
    assert kit_of(alias).language == language
