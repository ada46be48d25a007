"""The commands as their users type them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import jsonschema
import pytest
import tourney_runner
import yaml
from tourney_runner.cli.app import SECTIONS, app
from typer.testing import CliRunner
from whole_program import NAP, TOURNEY, Arena, Ended, until

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMANDS = ("run", "standings", "plan", "games", "schema")
FORMATS = {"json": "standings.json", "csv": "standings.csv", "md": "standings.md"}
POOR = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
"""A locale that can write no more than ASCII."""


def test_help_is_there_for_the_program_and_every_command(arena: Arena) -> None:
    whole = arena.call("--help").stdout
    for command in COMMANDS:
        assert re.search(rf"^  {command} +[A-Z].*[.]$", whole, re.MULTILINE)
        assert arena.call(command, "--help").stdout.startswith(f"Usage: tourney {command} ")


def test_no_help_is_cut_or_too_wide_for_a_terminal() -> None:
    commands = [name for names in SECTIONS.values() for name in names]
    parts = [["league", part] for part in ("table", "init", "import", "publish", "disqualify")]
    parts += [["pools", part] for part in ("draw", "final")]
    for words in ([], *([command] for command in commands), *parts):
        shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).stdout
        assert max(map(len, shown.splitlines())) <= 80
        takes = re.findall(r"^  (?:-\w, )?--[\w-]+ (?!/)(\S+)", shown, re.MULTILINE)
        assert all(re.fullmatch(r"[A-Z-]+|\w+(\|\w+)+", value) for value in takes), takes
    listed = dict(
        re.findall(
            r"^  ([a-z][a-z-]+) +(\S.*)$", CliRunner().invoke(app, ["--help"]).stdout, re.MULTILINE
        )
    )
    assert listed.keys() == set(commands)
    for sentence in listed.values():
        assert len(sentence) <= 60
        assert re.fullmatch(r"[A-Z].*[^.][.]", sentence)


def test_help_needs_no_heavy_module() -> None:
    heavy = ("pydantic", "rich", "numpy", "trueskill", "jinja2", "yaml", "msgspec", "matplotlib")
    shown = f"print(*[name for name in {heavy} if name in sys.modules])"
    code = f"import sys, tourney_runner.cli.app; {shown}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == []


def test_the_installed_command_is_the_same_program(arena: Arena) -> None:
    script = Path(sys.executable).with_name("tourney")
    if not script.exists():
        pytest.skip("the distribution is not installed beside this interpreter")
    ended = subprocess.run(
        [script, "--version"], env=arena.environment, capture_output=True, text=True, check=True
    )
    module = arena.end(arena.start("--version"))
    assert ended.stdout == module.stdout == f"tourney {tourney_runner.__version__}\n"


WRONG = {
    "no command": [],
    "an unknown command": ["rnu"],
    "an unknown option": ["run", "x.yaml", "--job", "1"],
    "no configuration": ["run"],
    "a configuration that is not there": ["run", "nowhere.yaml"],
    "no worker at all": ["run", "x.yaml", "--jobs", "0"],
    "a format that does not exist": ["standings", "out", "--format", "xml"],
    "no results": ["standings", "nowhere"],
    "a game that does not exist": ["games", "chess"],
    "a schema that does not exist": ["schema", "chess"],
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG.keys())
def test_wrong_usage_ends_with_status_2_and_says_why(words: list[str], arena: Arena) -> None:
    ended = arena.call(*words, status=2)
    assert ended.stdout == ""
    assert ended.stderr


class Played(NamedTuple):
    """A finished tournament that tests only read."""

    arena: Arena
    ended: Ended


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    arena = Arena(tmp_path_factory.mktemp("played"))
    config = arena.configure([arena.bot("één"), arena.bot("zwei")], name="Ünïcode Cup")
    yield Played(arena, arena.run("run", config, "--out", "out"))
    arena.close()


def test_an_audit_reads_the_results_and_writes_nothing(played: Played) -> None:
    before = played.arena.files()
    text = played.arena.call("audit", "out").stdout
    assert "Ünïcode Cup: audit of 4 deals, for the organiser only" in text
    assert "zwei: median" in text
    found = json.loads(played.arena.call("audit", "out", "--json").stdout)
    assert found["deals"] == 4
    assert [time["bot"] for time in found["times"]] == ["één", "zwei"]
    assert {row["void"] for row in found["voids"]} == {0}
    assert played.arena.files() == before


def test_tables_go_to_stdout_and_all_else_to_stderr(played: Played) -> None:
    stdout, stderr = played.ended.stdout, played.ended.stderr
    assert "Ünïcode Cup: tienlen, 4 deals" in stdout
    for title in ("rank", "bot", "score", "mu", "sigma", "deals", "points", "mean place", "faults"):
        assert title in stdout
    assert "protection:" not in stdout
    for words in ("Ünïcode Cup: Tien Len", "limits:", "protection:", "schedule:", "seed: 1"):
        assert words in stderr
    assert "\x1b" not in stdout + stderr  # plain lines where there is no terminal


def test_standings_are_the_files_again(played: Played) -> None:
    arena = played.arena
    for name, file in FORMATS.items():
        again = arena.call("standings", "out", "--format", name).stdout
        assert again == (arena.path / "out" / file).read_text("utf-8")
    assert arena.call("standings", "out").stdout in played.ended.stdout
    row = next(csv.DictReader(io.StringIO(arena.files()["standings.csv"])))
    best = arena.table()["entrants"][0]
    assert row["name"] == best["name"]
    assert float(row["score"]) == best["score"] == best["mu"] - 3 * best["sigma"]


def test_a_poor_locale_ends_no_command(arena: Arena) -> None:
    config = arena.configure([arena.bot("één"), arena.bot("二")], name="Ünïcode")
    ended = arena.run("run", config, "--out", "out", env=POOR)
    assert ended.stdout.isascii()
    for words in (["games", "speahx"], ["plan", config]):
        assert arena.run(*words, env=POOR).stdout


def test_standings_can_be_asked_for_during_a_run(arena: Arena) -> None:
    bots = [arena.bot(name, move=NAP) for name in ("one", "two")]
    config = arena.configure(bots, schedule={"rounds": 1000})
    process = arena.start("run", config, "--out", "out")
    until(arena.deals)
    table = json.loads(arena.call("standings", "out", "--format", "json").stdout)
    assert table["deals"] >= 1
    assert not table["complete"]
    assert process.poll() is None
    os.kill(process.pid, signal.SIGTERM)
    arena.end(process, 143)


# Root may do what the mode forbids; without these capabilities the mode is all that counts.
POWERS = "-dac_override,-dac_read_search"
AS_ANYBODY = ("setpriv", "--bounding-set", POWERS, "--") if os.geteuid() == 0 else ()


def copied(arena: Arena, name: str) -> Path:
    """Another copy of the arena's results, to be locked by `standings_of`."""
    return Path(shutil.copytree(arena.path / "out", arena.path / name))


def standings_of(copy: Path, arena: Arena) -> subprocess.CompletedProcess[str]:
    """Return the output of a reading command for a folder that nobody may write to."""
    for path in [*copy.rglob("*"), copy]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path.name for path in copy.iterdir()}
    ended = as_anybody(arena, "standings", copy.name, "--format", "json")
    assert {path.name for path in copy.iterdir()} == before
    return ended


def as_anybody(arena: Arena, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a user whom modes of files bind."""
    return subprocess.run(
        [*AS_ANYBODY, sys.executable, "-m", "tourney_runner", *words],
        cwd=arena.path,
        env=arena.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_copy_that_cannot_be_written_can_be_read_by_anybody(played: Played) -> None:
    arena = played.arena
    closed, running = copied(arena, "closed"), copied(arena, "running")
    with closing(sqlite3.connect(running / "results.sqlite")) as db:
        db.execute("PRAGMA journal_mode = WAL")  # as a run leaves it that did not end
    for copy in (closed, running):
        ended = standings_of(copy, arena)
        assert ended.stderr == ""
        assert ended.stdout == arena.files()["standings.json"]


def test_a_copy_with_deals_in_its_journal_is_refused_where_it_cannot_be_read(
    played: Played,
) -> None:
    arena = played.arena
    live, copy = copied(arena, "live"), copied(arena, "frozen")
    with closing(sqlite3.connect(live / "results.sqlite")) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE later (deal)")
        for name in ("results.sqlite", "results.sqlite-wal"):
            shutil.copy(live / name, copy)
    ended = standings_of(copy, arena)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "the last deals are still in results.sqlite-wal" in ended.stderr


def test_a_site_that_cannot_be_read_is_told_with_what_to_do(played: Played) -> None:
    copy = copied(played.arena, "shut")
    (copy / "site").chmod(0)
    try:
        for command in (("publish", "shut"), ("serve", "shut", "--port", "0")):
            ended = as_anybody(played.arena, *command)
            assert (ended.returncode, ended.stdout) == (2, "")
            assert ended.stderr.startswith("tourney: shut/site: ")
            assert "The stored deals are safe" in ended.stderr
            assert "or move the folder away" in ended.stderr
    finally:
        (copy / "site").chmod(0o755)


def test_a_folder_for_results_that_cannot_be_made_is_told_with_what_to_do(arena: Arena) -> None:
    (arena.path / "closed").mkdir(mode=0o555)
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    ended = as_anybody(arena, "run", str(config), "--out", "closed/out")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "cannot be kept here (Permission denied)" in ended.stderr
    assert "give --out another" in ended.stderr


def test_results_of_nothing_are_no_results(arena: Arena) -> None:
    for name, content in (("empty", b""), ("text", b"this is no database, not at all\n" * 40)):
        (arena.path / name).mkdir()
        (arena.path / name / "results.sqlite").write_bytes(content)
        ended = arena.call("standings", name, status=2)
        assert f"{name}/results.sqlite" in ended.stderr
        assert (arena.path / name / "results.sqlite").read_bytes() == content


def test_games_lists_all_games_and_the_rules_of_one(arena: Arena) -> None:
    whole = arena.call("games").stdout
    assert max(map(len, whole.splitlines())) <= 80
    for game in ("tienlen", "speahx"):
        assert f"{game} - " in whole
        rules = yaml.safe_load(arena.call("games", game).stdout)
        assert rules["game"] == game
        # What it prints is a piece of configuration, and the defaults are all that it says.
        bots = [arena.bot(f"{game}-{number}") for number in range(rules["rules"]["players"])]
        config = arena.configure(bots, **rules)
        assert "rules: all as usual" in arena.call("plan", config).stdout


def test_a_plan_says_what_would_be_played_and_plays_nothing(arena: Arena) -> None:
    bots = [arena.bot("one") | {"language": "Python"}, arena.bot("two"), arena.bot("three")]
    config = arena.configure(
        bots, rules={"players": 2, "bombs_may_lead": False}, schedule={"rounds": 5}
    )
    plan = arena.call("plan", config).stdout
    for words in (
        "cup: Tien Len", "3 bots, tables of 2", "1. one (Python)", "2. two",
        "rules: bombs_may_lead: false", "start 60 s, move 60 s", "memory 512 MiB",
        "on a fault: forfeit", "format: round-robin, everybody against everybody",
        "schedule: 5 rounds, 15 matches", "30 deals",
        "80 % range", "seed: 1",
    ):  # fmt: skip
        assert words in plan
    assert not (arena.path / "results").exists()


def test_schemas_are_made_from_the_programs_own_types(arena: Arena) -> None:
    schema = json.loads(arena.call("schema", "config").stdout)
    validator = jsonschema.validators.validator_for(schema)(schema)
    config = yaml.safe_load(arena.configure([arena.bot("one"), arena.bot("two")]).read_text())
    validator.validate(config)
    assert list(validator.iter_errors({**config, "on_fault": "shrug"}))
    assert "move" in arena.call("schema", "protocol").stdout


def test_output_that_nobody_reads_or_that_has_no_room_gives_no_traceback(arena: Arena) -> None:
    with Path("/dev/full").open("w") as full:
        arena.run("games", "tienlen", stdout=full, status=1)
        arena.run("--help", stdout=full, status=1)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        ended = arena.run("games", "tienlen", stdout=nobody, status=1)
    assert ended.stderr == ""


def test_closed_streams_are_no_trouble(arena: Arena) -> None:
    """Else a file that is opened later would be taken for one of them."""
    config = arena.configure([arena.bot("one"), arena.bot("two")])
    words = [*TOURNEY, "run", str(config), "--out", "out"]
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *words]
    subprocess.run(closed, cwd=arena.path, env=arena.environment, check=True)
    assert arena.table()["complete"]


def test_words_after_a_program_that_is_interrupted_name_no_fresh_start(arena: Arena) -> None:
    bots = [arena.bot(name, move=NAP) for name in ("one", "two")]
    config = arena.configure(bots, schedule={"rounds": 1000})
    process = arena.start("run", config, "--out", "my out", "--fresh", "--jobs", 1)
    until(lambda: arena.deals("my out"))
    os.kill(process.pid, signal.SIGTERM)
    *_, again = arena.end(process, 143).stderr.splitlines()
    assert again.strip() == f"tourney run {config} --out 'my out' --jobs 1"


def test_who_talks_where_answers_belong_is_named_with_his_log_and_the_deals_in_it(
    arena: Arena,
) -> None:
    chatty = arena.bot("chatty", move="print('thinking', flush=True)")
    quiet = arena.bot("quiet", move="print('thinking', file=sys.stderr, flush=True)")
    config = arena.configure([chatty, quiet], schedule={"rounds": 2})
    ended = arena.run("run", config, "--out", "out")
    log = "out/logs/001-chatty.log"
    note = "note: output that answers no request came from "
    assert f"{note}chatty ({log})\n" in ended.stderr
    assert "\nstderr: thinking\n" in (arena.path / "out/logs/002-quiet.log").read_text()
    deals = re.findall(r"^--- deal (\S+), seat \d$", (arena.path / log).read_text(), re.MULTILINE)
    assert sorted(deals) == [f"{n // 4 + 1}.{n // 2 % 2 + 1}.{n % 2 + 1}" for n in range(8)]
    shown = arena.call("replay", "out", "2.1.2").stdout
    assert shown == arena.call("replay", "out", 6).stdout
    assert shown.startswith("deal 6 (2.1.2 in the logs): ")
    for wrong in ("3.1.1", "2.1.3", "0.0.0", "-1", "six"):
        assert arena.call("replay", "out", "--", wrong, status=2).stderr.startswith("tourney: ")
