"""The games of docs/examples as installed packages: tournaments, replays, a person at the table."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from rich.console import Console
from tourney_runner.cli.app import app
from tourney_runner.gamekit.conformance import CHECKS
from tourney_runner.games import registry
from tourney_runner.games.base import SeatEvents
from tourney_runner.human_play.human_player import Person
from tourney_runner.human_play.move_parser import Words, WordsError
from tourney_runner.play import game_errors
from tourney_runner.play.bot import Bot
from tourney_runner.play.deal_replay import steps
from tourney_runner.play.match import player_setup
from tourney_runner.play.play_settings import MatchConfig, PlaySettings
from tourney_runner.process.clock import WallClock
from tourney_runner.process.launcher import PlainLauncher
from tourney_runner.results.store import FILE_NAME, Store
from typer.testing import CliRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from click.testing import Result
    from tourney_runner.gamekit.conformance import Check

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
GAMES = ("hearts", "auction")

BOT = """\
import json, random, sys

for line in filter(str.strip, sys.stdin):
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "legal": "all"}), flush=True)
    elif message["type"] == "deal":
        chance, deal = random.Random(message["seed"]), message
    elif message["type"] == "move":
        for event in message["events"]:
            assert "gave" not in event or len(set(event["got"])) == 3
        answer = chance.choice(message["legal"])
        print(json.dumps({"id": message["id"], "debug": json.dumps(message["view"]), **answer}),
              flush=True)
"""


CUP = """\
game: {game}
seed: 7
rules: {{players: 4}}
bots: [a, b, c, d]
schedule: {{format: swiss, rounds: 2}}
match: {{duplicate: 2}}
time: {{start: 30s, move: 10s}}
sandbox: limits
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for the tests, in which the games are installed for all processes."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for name in GAMES:
        shutil.copy(EXAMPLES / f"{name}_game.py", packages)
        info = packages / f"tourney_{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tourney-{name}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[tourney.games]\n{name} = {name}_game:GAME\n")
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.chdir(tmp_path)
    for name in GAMES:  # another test may have changed its module
        monkeypatch.delitem(sys.modules, f"{name}_game", raising=False)
    monkeypatch.setattr(game_errors, "LOOP_SECONDS", game_errors.LOOP_SECONDS)
    registry.game.cache_clear()
    yield tmp_path
    registry.game.cache_clear()


def tourney(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def write_bot(folder: Path, name: str, code: str = BOT, games: str = "hearts, auction") -> None:
    (folder / name).mkdir()
    (folder / name / "bot.py").write_text(code)
    (folder / name / "bot.yaml").write_text(
        f'name: {name}\ncommand: ["{{python}}", "-E", "-S", "bot.py"]\ngames: [{games}]\n'
    )


def run(folder: Path, game: str, *more: str) -> tuple[PlaySettings, list[Any]]:
    """Play a small tournament; return its settings and deals."""
    (folder / "cup.yaml").write_text("\n".join([CUP.format(game=game), *more]))
    played = tourney("run", "cup.yaml", "--out", "out", "--quiet")
    assert played.exit_code == 0, played.output
    with closing(Store(folder / "out" / FILE_NAME)) as store:
        return PlaySettings.of(store.about()), [*store.records()]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.usefixtures("installed")
def test_the_examples_keep_the_contract(name: str, check: Check) -> None:
    game = registry.game(name)
    for seed in range(2):
        check.run(game, game.options.model_validate({}), seed)


@pytest.mark.parametrize("name", GAMES)
def test_the_examples_are_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}_game.py").read_text().splitlines()) <= 250


@pytest.mark.parametrize("name", GAMES)
def test_a_tournament_of_an_example_is_played_verified_and_replayed(
    installed: Path, name: str
) -> None:
    for bot in "abcd":
        write_bot(installed, bot)
    settings, records = run(installed, name)
    assert len(records) == 12
    assert not [fault for record in records for fault in record.faults]
    if name == "auction":
        for record in records:  # partners win together
            assert record.places[0] == record.places[2]
            assert record.places[1] == record.places[3]
    for record in records:
        *_, last = steps(settings, record, check=True)
        assert last.state.places() == record.places
    assert tourney("verify", "out").exit_code == 0
    seen = tourney("replay", "out", 1, "--seat", 1)
    assert seen.exit_code == 0, seen.output
    assert seen.output.count(" has chosen") >= 3
    fed = tourney("replay", "out", 1, "--seat", 1, "--feed", "a")
    assert fed.exit_code == 0, fed.output
    assert tourney("schema", "protocol").exit_code == 0


def test_passed_cards_are_seen_by_giver_and_receiver_only(installed: Path) -> None:
    for bot in "abcd":
        write_bot(installed, bot)
    settings, records = run(installed, "hearts")
    passing = [step.event for step in steps(settings, records[0])][3]
    assert isinstance(passing, SeatEvents)
    assert msgspec.to_builtins(passing.public) == {}
    views = [msgspec.to_builtins(passing.own[seat]) for seat in range(4)]
    assert [view["got"] for view in views[1:]] == [view["gave"] for view in views[:3]]


def test_a_fault_in_a_round_reaches_no_seat_before_all_have_chosen(installed: Path) -> None:
    failing = BOT.replace(
        '    elif message["type"] == "move":\n',
        '    elif message["type"] == "move":\n        if deal["seat"] == 1: sys.exit(3)\n',
    )
    write_bot(installed, "a")
    for bot in "bcd":
        write_bot(installed, bot, failing)
    _, records = run(installed, "auction")
    failed = [record for record in records if record.faults]
    assert failed
    for record in failed:
        (fault,) = record.faults
        assert (fault.seat, fault.move, record.moves.split()[1]) == (1, 1, "!1")
        first_views = {seat: json.loads(text) for move, seat, text in record.debug if move < 4}
        for view in first_views.values():  # the coins of seat 1 are still there
            assert view["coins"] == [30, 30, 30, 30]
        later = [json.loads(text) for move, _, text in record.debug if move >= 4]
        assert later
        assert all(view["coins"][1] == 0 for view in later)


def test_a_deal_ends_after_max_moves_with_shared_places(installed: Path) -> None:
    for bot in "abcd":
        write_bot(installed, bot)
    settings, records = run(installed, "hearts", "max_moves: 20")
    assert settings.max_moves == 20
    for record in records:
        assert record.cut_short
        assert len(record.moves.split()) == 21
        assert (record.places, record.points) == ((1, 1, 1, 1), (0, 0, 0, 0))
    assert tourney("verify", "out").exit_code == 0
    seen = tourney("replay", "out", 1, "--seat", 0)
    assert "ended after 20 moves; those still in share a place" in seen.output
    assert '"type":"result"' in seen.output
    assert tourney("publish", "out").exit_code == 0
    page = (installed / "out" / "site" / "index.html").read_text()
    assert "These deals were ended after 20 moves." in page


def test_a_check_of_a_game_passes_and_a_bot_is_tried_only_at_its_games(installed: Path) -> None:
    checked = tourney("check-game", "hearts", "--deals", 1)
    assert "hearts is ready for a tournament" in checked.output
    write_bot(installed, "hearts_bot", games="hearts")
    report = tourney("check", "hearts_bot", "--deals", 2)
    assert report.exit_code == 0, report.output
    assert "auction" not in report.output


BUGS = {
    "exception": (
        "raise KeyError(5)",
        "the game auction failed in resolve(): KeyError: 5. This is a bug of the game, not of a",
    ),
    "endless": (
        "while True:\n                pass",
        "the game auction did not return from resolve() in 0.4 s of processor time. This is a bug",
    ),
    "event": ("return 7", "the game auction: an event is 7, expected a AuctionEvent"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_of_a_game_ends_the_run_and_names_the_game(installed: Path, bug: str) -> None:
    line, message = BUGS[bug]
    module = installed / "packages" / "auction_game.py"
    code = module.read_text().replace(
        "        prize = self.prizes.pop()\n",
        f"        if len(self.prizes) == 5:\n            {line}\n"
        "        prize = self.prizes.pop()\n",
    )
    # Only to make the test short: a call may take 20 seconds.
    code += "\nfrom tourney_runner.play import game_errors\n\ngame_errors.LOOP_SECONDS = 0.4\n"
    module.write_text(code)
    for bot in "abcd":
        write_bot(installed, bot)
    (installed / "cup.yaml").write_text(CUP.format(game="auction"))
    played = tourney("run", "cup.yaml", "--out", "out", "--quiet")
    assert played.exit_code == 1
    said = played.output + str(played.exception)
    assert message in re.sub(r"\s+", " ", said)
    with closing(Store(installed / "out" / FILE_NAME)) as store:
        assert store.count() == 0


TYPED = [
    ("auction", "3", {"bid": 3}),
    ("auction", "bid 12", {"bid": 12}),
    ("auction", '{"bid": 4}', {"bid": 4}),
    ("hearts", "7h", {"play": "7H"}),
    ("hearts", "♥7", {"play": "7H"}),
    ("hearts", "play 7h", {"play": "7H"}),
    ("hearts", "play 10♠", {"play": "TS"}),
    ("hearts", "give 2s 3s 4s", {"give": ["2S", "3S", "4S"]}),
    ("hearts", "2s 3s 4s", {"give": ["2S", "3S", "4S"]}),
]


@pytest.mark.parametrize(("name", "line", "fields"), TYPED)
@pytest.mark.usefixtures("installed")
def test_numbers_text_and_lists_can_be_typed(name: str, line: str, fields: object) -> None:
    words = Words.of(registry.game(name).answer)
    assert fields in words.readings(line, ())
    assert words.parts(words.readings(line, ())[0])


@pytest.mark.usefixtures("installed")
def test_what_is_legal_decides_the_field_of_a_bare_word() -> None:
    words = Words.of(registry.game("hearts").answer)
    assert words.readings("7h", (), [{"play": "8H"}])[0] == {"play": "7H"}
    assert words.readings("7h", (), [{"give": ["8H", "2C", "3C"]}])[0] == {"give": ["7H"]}
    assert ("2H S", "give a card that needs a play, with it") not in words.usage([{"play": "8H"}])
    with pytest.raises(WordsError, match="'uno' is not a card"):
        words.readings("uno", (), [{"play": "8H"}])
    assert words.readings("uno", (), [{"play": "uno"}]) == [{"play": "uno"}]


class Coordinates(msgspec.Struct):
    id: int
    row: int
    column: int
    deep: dict[str, int] | None = None


def test_coordinates_and_structures_can_be_typed() -> None:
    words = Words.of(Coordinates)  # type: ignore[arg-type]
    assert {"row": 2, "column": 5} in words.readings("2 5", ())
    named = words.readings('row 1 column 2 deep {"a": 1}', ())
    assert named[0] == {"row": 1, "column": 2, "deep": {"a": 1}}
    with pytest.raises(WordsError, match="type row 3, column 3"):
        words.readings("left", ())


@pytest.mark.usefixtures("installed")
def test_a_person_bids_by_typing_a_number() -> None:
    game = registry.game("auction")
    options = game.options(players=2)
    settings = PlaySettings(
        game="auction",
        rules=options.in_force(),
        master_seed="",
        match=MatchConfig(duplicate=0, deals=1),
        reveal_names=True,
    )
    typed = io.StringIO()
    console = Console(file=typed, width=100)
    lines = iter(["hint", "99", "#4", "u", "7", ""])
    console.input = lambda *_: next(lines)  # type: ignore[method-assign]
    person = Person(
        Bot(name="Anna", number=0),
        player_setup(settings, PlainLauncher(), WallClock()),
        game,
        console,
        options=options,
        names=("Anna", "Bert"),
        seat=0,
    )
    person.sit(game.new_state(options, 1, None))
    answer, _ = person.ask(b'{"events": []}', 5, 10**9)
    assert answer == game.answer(id=5, bid=7)  # type: ignore[call-arg]
    shown = typed.getvalue()
    assert re.search(r"   4 bid 3", shown)
    assert "no: expected a bid from 0 to 30" in shown
    assert "you choose: bid 3" in shown
