from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

import pexpect
import pytest
from authors_program import BOTS
from tourney_runner.games.registry import game
from tourney_runner.human_play.move_parser import Words, WordsError
from tourney_runner.results.store import FILE_NAME, Store

if TYPE_CHECKING:
    from authors_program import Program

TABLE = f"""\
game: {{game}}
rules: {{rules}}
bots:
  - {{{{bot: {BOTS}/greedy, trusted: true}}}}
  - {{{{bot: {BOTS}/random, trusted: true}}}}
  - {{{{bot: {BOTS}/planner, trusted: true}}}}
time: {{{{start: 30s, move: 10s}}}}
"""
GAMES = {"tienlen": "{players: 3}", "speahx": "{players: 3, max_turns: 40}"}
TURN, SEND, AGAIN = "your turn> ", "takes it back> ", "another deal"


def sit_down(
    tourney: Program, name: str, *more: object, rules: str | None = None
) -> pexpect.spawn[str]:
    tourney.write("table.yaml", TABLE.format(game=name, rules=rules or GAMES[name]))
    return tourney.at_a_terminal("play", "table.yaml", "--as", "Anna", "--seed", 1, *more)


def play_on(terminal: pexpect.spawn[str]) -> None:
    """Take the first hint until the deal is over."""
    while terminal.expect([TURN, AGAIN]) == 0:
        terminal.sendline("hint")
        terminal.expect(TURN)
        terminal.sendline("1")
        terminal.expect(SEND)
        terminal.sendline("")


def plain(text: str | None) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text or "")


@pytest.mark.parametrize("name", GAMES)
def test_a_person_plays_a_deal_which_is_kept_like_any_other(tourney: Program, name: str) -> None:
    terminal = sit_down(tourney, name)
    play_on(terminal)
    over = plain(terminal.before)
    assert "the deal is over" in over
    assert len(re.findall(r"^ *[123]\. (?:Anna|greedy|random), points:", over, re.MULTILINE)) == 3
    again = name == "tienlen"  # a second deal, once
    if again:
        terminal.sendline("")
        play_on(terminal)
    terminal.sendline("q")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    folder = tourney.folder / "results" / "play-table"
    with closing(Store(folder / FILE_NAME)) as store:
        keys = [record.key for record in store.records()]
        assert keys == [(0, 0, deal) for deal in range(1 + again)]
        assert all(not record.faults for record in store.records())
    assert "│ Anna" in tourney("standings", folder).stdout
    replay = tourney("replay", folder, 1 + again)
    assert (replay.returncode, "the deal is over" in replay.stdout) == (0, True)
    greedy = tourney("replay", folder, 1 + again, "--seat", 1, "--feed", BOTS / "greedy")
    assert "answers are the same as those of greedy" in greedy.stdout


@pytest.mark.parametrize("name", GAMES)
def test_the_table_helps_a_person_along(tourney: Program, name: str) -> None:
    terminal = sit_down(tourney, name)
    terminal.expect(TURN)
    look = plain(terminal.before)
    assert re.search(r"your hand: (?:(?:10|[2-9TJQKA])[♠♣♦♥] ?)+", look)
    assert "\x1b[1;31m" in (terminal.before or "") or "♥" not in look
    assert not re.search(r"^greedy: .*[♠♣♦♥]", look, re.MULTILINE)
    terminal.sendline("help")
    terminal.expect(TURN)
    use = "lay no cards; not allowed when leading" if name == "tienlen" else "take the pile"
    for word in ("hint", "undo", "rules", "quit", f"pass {use}", "3♠ is 3S"):
        assert word in re.sub(" +", " ", plain(terminal.before))
    terminal.sendline("rules")
    terminal.expect(TURN)
    rules = plain(terminal.before)
    assert "the rules at this table" in rules
    assert ("Bombs" if name == "tienlen" else "Chance cards") in rules
    terminal.sendline("seven")
    terminal.expect("no: 'seven' is not a card; type cards such as")
    terminal.expect(TURN)
    terminal.sendline("5")
    terminal.expect("no: type hint first")
    terminal.expect(TURN)
    terminal.sendline("hint")
    terminal.expect(" 1 (play|pass|chance)")
    terminal.expect(TURN)
    terminal.sendline("1")
    terminal.expect("you choose: ")
    terminal.expect(SEND)
    terminal.sendline("help")
    terminal.expect("lets you choose again")
    terminal.expect(SEND)
    terminal.sendline("quit")
    terminal.expect("not be kept")
    terminal.sendline("n")
    terminal.expect(SEND)
    terminal.sendline("u")
    terminal.expect("taken back")
    terminal.expect(TURN)
    terminal.sendline("quit")
    terminal.expect("not be kept")
    terminal.sendline("n")
    terminal.expect(TURN)
    terminal.sendline("quit")
    terminal.expect("not be kept")
    terminal.sendline("y")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    with closing(Store(tourney.folder / "results" / "play-table" / FILE_NAME)) as store:
        assert store.count() == 0


@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
def test_a_narrow_terminal_is_enough(tourney: Program, term: str) -> None:
    tourney.write("table.yaml", TABLE.format(game="tienlen", rules=GAMES["tienlen"]))
    terminal = tourney.at_a_terminal(
        "play", "table.yaml", "--seed", 1, "--against", 3, term=term, columns=40
    )
    terminal.expect(TURN)
    shown = plain(terminal.before)
    for typed, answered in (
        ("3s 4c 9h kd", r"no: .*\[H\d+\]"),
        ("pass 3s", "no: "),
        ("help", "leave"),
    ):
        terminal.sendline(typed)
        terminal.expect(TURN)
        assert re.search(answered, plain(terminal.before), re.DOTALL)
        shown += plain(terminal.before)
    assert max(map(len, shown.splitlines())) <= 40
    terminal.close(force=True)


def test_failing_bots_are_told_of_and_ctrl_c_keeps_what_is_finished(tourney: Program) -> None:
    bots = ("greedy", BOTS / "faulty" / "crash_move")
    against = [word for bot in bots for word in ("--against", bot)]
    terminal = sit_down(tourney, "tienlen", "--out", "mine", *against)
    play_on(terminal)
    why = "crash-move failed: crash: it exited with status 1 without an answer"
    assert f"{why}; all of it: tourney replay mine --last-fault crash-move" in plain(
        terminal.before
    )
    terminal.sendline("")
    terminal.expect(TURN)
    terminal.sendintr()
    terminal.expect("\r\nfinished deals are kept in mine, the unfinished one is void")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 130
    with closing(Store(tourney.folder / "mine" / FILE_NAME)) as store:
        assert store.count() == 1


def test_the_end_of_input_is_a_way_to_leave(tourney: Program) -> None:
    tourney.write("table.yaml", TABLE.format(game="tienlen", rules="{players: 2}"))
    done = tourney("play", "table.yaml")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_person_meets_any_bots(tourney: Program) -> None:
    terminal = sit_down(
        tourney, "tienlen", "--against", 2, "--against", BOTS / "random", rules="{}"
    )
    terminal.expect(TURN)
    look = plain(terminal.before)
    assert re.findall(r"^[→ ]  (\S+) +\d+ cards", look, re.MULTILINE) == [
        "Anna",
        "greedy",
        "random",
        "random-2",
    ]
    terminal.close(force=True)


def test_a_table_needs_one_bot_less_than_seats(tourney: Program) -> None:
    tourney.write("table.yaml", TABLE.format(game="tienlen", rules="{players: 4}"))
    assert tourney("play", "table.yaml").returncode == 0  # at the end of the input


WRONG = {
    "a bot that is not there": (("--against", "gredy"), "did you mean 'greedy'?"),
    "a name that is none": (("--as", "a\tb"), "--as: found 'a"),
    "too many at the table": (("--against", "6"), "for 2, 3 or 4 players, not 7"),
    "a number of bots that is none": (("--against", "0"), "there is no bot '0'"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_a_table_that_cannot_be_set_up_is_refused(
    tourney: Program, words: tuple[str, ...], message: str
) -> None:
    tourney.write("table.yaml", TABLE.format(game="tienlen", rules="{players: 3}"))
    done = tourney("play", "table.yaml", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


ONLY_FOR_TOURNAMENTS = (
    ("verify", "mine"),
    ("withdraw", "mine", "greedy", "--reason", "late"),
    ("run", "table.yaml", "--out", "mine"),
)


def test_deals_of_a_person_are_not_taken_for_a_tournament(tourney: Program) -> None:
    tourney.write("table.yaml", TABLE.format(game="tienlen", rules="{players: 3}"))
    assert tourney("play", "table.yaml", "--out", "mine").returncode == 0
    for words in ONLY_FOR_TOURNAMENTS:
        done = tourney(*words)
        assert done.returncode == 2
        assert "from a person's table (`tourney play`), which is not a tournament" in done.stderr


def test_another_table_does_not_mix_with_the_first(tourney: Program) -> None:
    tourney.write("table.yaml", TABLE.format(game="tienlen", rules="{players: 3}"))
    assert tourney("play", "table.yaml", "--out", "mine").returncode == 0
    done = tourney("play", "table.yaml", "--out", "mine", "--against", "greedy")
    assert done.returncode == 2
    assert "deals of another table are kept here" in done.stderr
    done = tourney("play", "table.yaml", "--out", "mine", "--seed", "2")
    assert done.returncode == 2
    assert "come from another seed; leave --seed out" in done.stderr
    again = tourney("play", "table.yaml", "--out", "mine", "--against", "greedy", "--fresh")
    assert (again.returncode, again.stderr) == (0, "")
    assert "mine.old-1" in again.stdout


TYPED = {
    "tienlen": {
        "3s 3C": {"play": ["3S", "3C"]},
        "10h,TD": {"play": ["TH", "TD"]},
        "4♠ 4♥": {"play": ["4S", "4H"]},
        "play 4♠ 4♥": {"play": ["4S", "4H"]},
        "4 ♠, ♥10 5♣️ 6♡": {"play": ["4S", "TH", "5C", "6H"]},
        "p": {"pass": True},
        "PASS": {"pass": True},
    },
    "speahx": {
        "2h s": {"play": ["2H"], "suit": "S"},
        "2h suit ♦": {"play": ["2H"], "suit": "D"},
        "play 2♥, suit S": {"play": ["2H"], "suit": "S"},
        "joker 4c": {"play": ["JK", "4C"]},
        "c": {"chance": True},
        "pa": {"pass": True},
    },
}


@pytest.mark.parametrize(
    ("name", "line", "fields"),
    [(name, line, fields) for name, lines in TYPED.items() for line, fields in lines.items()],
)
def test_what_a_person_types_is_understood(name: str, line: str, fields: object) -> None:
    assert Words.of(game(name).answer).readings(line, ())[0] == fields


@pytest.mark.parametrize("line", ["3", "3S pass", "1S", "x", "S 3S"])
def test_other_words_are_no_choice(line: str) -> None:
    with pytest.raises(WordsError, match="type cards such as 3S 3C"):
        Words.of(game("tienlen").answer).readings(line, ())
