from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from authors_program import BOTS, needs_git
from tourney_runner.league.league_setup import League, slug
from tourney_runner.league.yaml_list_edit import find_list

if TYPE_CHECKING:
    from pathlib import Path

    from authors_program import Program

LEAGUE = f"""\
# The Friday league.
name: Friday   # every week
game: tienlen

bots:
  - {BOTS}/greedy      # the house
  # the next one asked for its place
  - {{bot: {BOTS}/random, name: "House, too"}}

# below the list
rules: {{players: 2}}       # small tables
time: {{start: 30s, move: 10s}}
schedule: {{rounds: 2}}
"""


@pytest.fixture
def league(tourney: Program) -> Path:
    return tourney.write("league/league.yaml", LEAGUE)


@pytest.fixture
def mine(tourney: Program) -> Path:
    assert tourney("new", "python", "mine").returncode == 0
    return tourney.folder / "mine"


def versions(league: Path, name: str) -> list[Path]:
    return sorted((league.parent / "bots" / name).iterdir())


def test_a_bot_is_entered_and_the_rest_of_the_file_stays(
    tourney: Program, league: Path, mine: Path
) -> None:
    done = tourney("submit", "mine", "league")
    assert done.returncode == 0, done.stderr
    (version,) = versions(league, "mine")
    before, after = LEAGUE.splitlines(), league.read_text().splitlines()
    entry = f"  - bots/mine/{version.name}"
    assert [line for line in after if line != entry] == before
    assert after.index(entry) == before.index("# below the list") - 1
    for path in mine.iterdir():
        assert (version / path.name).read_bytes() == path.read_bytes()
    assert "to have it play: tourney season league/league.yaml" in done.stdout
    done = tourney("run", "league/league.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    ranking = json.loads((tourney.folder / "out" / "standings.json").read_text())
    assert {bot["name"] for bot in ranking["entrants"]} == {"greedy", "House, too", "mine"}


def test_a_taken_name_is_refused_or_replaced_or_avoided(
    tourney: Program, league: Path, mine: Path
) -> None:
    assert tourney("submit", "mine", league).returncode == 0
    (version,) = versions(league, "mine")
    folder = f"bots/mine/{version.name}"
    granted = f"{{bot: {folder}, network: false, trusted: true, env: {{A: b}}}}"
    entered = league.read_text().replace(folder, granted)
    league.write_text(entered)
    (mine / "notes.txt").write_text("a new version")
    done = tourney("submit", "mine", league)
    assert (done.returncode, league.read_text()) == (2, entered)
    assert "the name 'mine' is taken; give --replace" in done.stderr
    done = tourney("submit", "mine", league, "--replace")
    assert done.returncode == 0, done.stderr
    assert "takes the place of the version before" in done.stdout
    assert "had env and trusted in" in done.stdout
    first, second = versions(league, "mine")
    text = league.read_text()
    assert "trusted" not in text
    assert (first.name in text) + (second.name in text) == 1
    assert len(text.splitlines()) == len(entered.splitlines())
    done = tourney("submit", "mine", league, "--name", "MINE-2")
    assert done.returncode == 0, done.stderr
    assert 'name: "MINE-2"}' in league.read_text()
    assert [entry.name for entry in League(league).entries][2:] == ["mine", "MINE-2"]


def test_a_new_league_takes_its_first_bot(tourney: Program, league: Path, mine: Path) -> None:
    league.write_text("game: tienlen\nrules: {players: 2}\nbots: []\ntime: {move: 10s}\n")
    done = tourney("submit", mine, "league")
    assert done.returncode == 0, done.stderr
    assert "the league can begin, with 1 more bot\n" in done.stdout
    assert [entry.name for entry in League(league).entries] == ["mine"]
    done = tourney("plan", league)
    assert (done.returncode, "found 1 bot, expected at least 2" in done.stderr) == (2, True)


REFUSED = {
    "a bot that fails": ((BOTS / "faulty/illegal", "league"), "since it failed a check"),
    "nobody to replace": ((BOTS / "planner", "league", "--replace"), "nothing to replace"),
    "a name but for case": ((BOTS / "planner", "league", "--name", "GREEDY"), "'GREEDY' is taken"),
    "no league": ((BOTS / "planner", "nowhere.yaml"), "there is no such file"),
    "no bot": (("league", "league"), "league: there is no bot.yaml in league"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_leaves_the_league_as_it_was(
    tourney: Program, league: Path, words: tuple[object, ...], message: str
) -> None:
    done = tourney("submit", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert league.read_text() == LEAGUE
    assert [path.name for path in league.parent.iterdir()] == ["league.yaml"]


@needs_git
def test_the_printed_commands_push_the_bot_on_a_branch_of_its_own(
    tourney: Program, league: Path, mine: Path
) -> None:
    def git(*words: object) -> str:
        command = ["git", "-C", str(league.parent), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    git("init", "-q", "-b", "main")
    git("config", "user.name", "A")
    git("config", "user.email", "a@example.org")
    git("add", ".")
    git("commit", "-qm", "The league")
    hub = tourney.folder / "hub.git"
    subprocess.run(["git", "init", "-q", "--bare", hub], check=True)
    git("remote", "add", "hub", hub)
    done = tourney("submit", mine, league.parent)
    commands = [line for line in done.stdout.splitlines() if line.startswith("  git -C ")]
    for command in commands:
        subprocess.run(command, shell=True, check=True)  # noqa: S602 - as the author pastes it
    (branch,) = git("ls-remote", "--heads", "hub").splitlines()
    assert "refs/heads/enter-mine-" in branch
    changed = git("diff", "--name-only", "main", "HEAD").split()
    assert "league.yaml" in changed
    assert any(path.endswith("/bot.yaml") for path in changed)
    assert not git("status", "--porcelain")


def test_folder_names_keep_the_letters_of_names_in_any_script() -> None:
    assert slug("Nguyễn Thị Minh Khai") == "Nguyen-Thi-Minh-Khai"
    assert slug("日本語ボット") not in ("", "bot")
    assert slug("../..") == "bot"


LISTS = {
    "deep indents": (
        "bots:\n    -   bot: x # a\n        name: y\nz: 1\n",
        "        name: y\n    - NEW\n",
    ),
    "a block of text": ("bots:\n- bot: >-\n    x\n\nz: 1\n", "    x\n- NEW\n\nz"),
    "brackets": (
        "a: {bots: [no]}\nbots: [x, {bot: y,\n  name: n} ] # c\n",
        "name: n}, NEW ] # c\n",
    ),
    "an empty list": ("bots: []\n", "bots:\n  - NEW\n"),
    "an empty list with a comment": ("bots: [ ]  # c\nz: 1\n", "bots:   # c\n  - NEW\nz"),
    "an empty list over lines": ("bots: [\n]\nz: 1\n", "bots:\n  - NEW\nz"),
    "an empty list in braces": ("{a: 1, bots: [], z: 1}\n", "bots: [NEW], z"),
    "nothing": ("bots:\nz: 1\n", "bots:\n  - NEW\nz"),
    "nothing but a comment": ("a: 1\nbots:   # c\n\nz: 1\n", "bots:   # c\n  - NEW\n\nz"),
    "nothing, at the end": ("a: 1\nbots:", "bots:\n  - NEW"),
    "nothing, with other line ends": ("bots:\r\nz: 1\r\n", "bots:\r\n  - NEW\r\nz"),
    "null": ("bots: null # c\nz: 1\n", "bots:  # c\n  - NEW\nz"),
    "letters of several bytes": ("name: Tiến\nbots: [x] # é\n", "bots: [x, NEW] # é"),
    "other line ends": ("bots:\r\n  - x # c\r\nz: 1\r\n", "  - x # c\r\n  - NEW\r\nz"),
    "no line end": ("bots:\n  - x", "  - x\n  - NEW"),
}
"""(a file, how it goes on around a new entry)."""


@pytest.mark.parametrize(("text", "part"), LISTS.values(), ids=LISTS)
def test_a_list_is_changed_however_it_is_written(text: str, part: str) -> None:
    listing = find_list(text, "bots")
    assert listing is not None
    after = listing.added("NEW")
    assert part in after
    new = find_list(after, "bots")
    assert new is not None
    assert len(new.entries) == len(listing.entries) + 1
    if listing.entries:
        assert len(after.splitlines()) - len(text.splitlines()) == (not listing.flow)
    back = new.replaced(len(listing.entries), "OTHER")
    assert back == after.replace("NEW", "OTHER")
