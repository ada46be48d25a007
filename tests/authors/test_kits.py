from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml
from authors_program import BOTS, ROOT
from tourney_runner.cli.app import app
from tourney_runner.errors import UsageError
from tourney_runner.kits import KITS, create, kit_of
from typer.testing import CliRunner

if TYPE_CHECKING:
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
    assert "this machine lacks rustc, so install it first (the package rustc" in done.stderr
    done = bare("check", "mine")
    assert done.returncode == 2
    assert "found 'rustc', there is no such program" in done.stderr


def test_the_help_shows_every_language_and_its_short_name() -> None:
    shown = CliRunner().invoke(app, ["new", "--help"]).stdout
    words = set(re.findall(r"[\w+]+", shown))
    assert set(KITS) <= words
    assert {"py", "js", "ts", "c++", "rs", "rb", "pl", "sh"} <= words


def test_a_typed_kit_is_refused_for_a_game_that_it_cannot_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "tricks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tricks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[tourney.games]\ntricks = tourney_runner.gamekit.tricks:GAME\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match="speahx and tienlen only, so it cannot play tricks"):
        create(KITS["c"], tmp_path / "typed", ["tricks"])
    create(KITS["lua"], tmp_path / "free", ["tricks"])
    assert "games: [tricks]" in (tmp_path / "free/bot.yaml").read_text()


def test_the_schema_of_bot_yaml_accepts_every_bundled_bot() -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema", "bot"]).stdout)
    validator = jsonschema.validators.validator_for(schema)(schema)
    manifests = [yaml.safe_load(path.read_text()) for path in BOTS.rglob("bot.yaml")]
    assert len(manifests) > len(KITS)
    for manifest in manifests:
        validator.validate(manifest)
    assert list(validator.iter_errors({"name": "mine"}))
    assert list(validator.iter_errors({**manifests[0], "trusted": True}))


@pytest.mark.parametrize("game", ["tienlen", "speahx"])
def test_the_rule_cases_are_found_for_the_tests_of_a_bot(game: str) -> None:
    done = CliRunner().invoke(app, ["games", game, "--cases"])
    cases = [
        json.loads(line)
        for path in done.stdout.split()
        for line in Path(path).read_text("utf-8").splitlines()
    ]
    assert len(cases) >= 70
    assert all({"id", "config", "hand", "action", "legal"} <= set(case) for case in cases)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for path in done.stdout.split():
        name = Path(path).name
        assert packed[f"tests/data/{name}"] == f"tourney_runner/_bundled/cases/{name}"


def test_rule_cases_need_a_game(tourney: Program) -> None:
    done = tourney("games", "--cases")
    assert done.returncode == 2
    assert "name the game" in done.stderr


@pytest.mark.parametrize(
    ("alias", "language"),
    [
        ("py", "python"),
        ("JS", "javascript"),
        ("ts", "typescript"),
        ("c++", "cpp"),
        ("rb", "ruby"),
        ("bash", "shell"),
    ],
)
def test_a_language_is_known_by_its_usual_short_names(alias: str, language: str) -> None:
    assert kit_of(alias).language == language
