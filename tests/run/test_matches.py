"""Tests of matches: rotations of the same cards, or fresh deals in a row."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tourney_runner.results.store import Store

if TYPE_CHECKING:
    from whole_program import Arena

# What a bot tells its log: which process it is, and how the deal began for it.
BEGIN = "me = str(time.time_ns())"
TELL = """
told = [me, deal["seat"], deal["leader"], deal["seed"], deal["hand"], deal.get("names")]
print("TOLD", json.dumps(told), file=sys.stderr, flush=True)
"""
HEAD = re.compile(r"^--- deal (\d+)\.(\d+)\.(\d+), seat (\d+)", re.MULTILINE)


class Told(NamedTuple):
    bot: str
    round: int
    match: int
    deal: int
    process: str
    seat: int
    leader: int
    seed: int
    hand: tuple[str, ...]
    names: list[str] | None


def _teller(arena: Arena, name: str, **pieces: str) -> dict[str, Any]:
    return arena.bot(name, first=BEGIN, deal=TELL, **pieces)


def _told(arena: Arena, out: str = "out") -> list[Told]:
    """All that bots told in their logs, in the order of the schedule."""
    found = []
    for path in (arena.path / out / "logs").iterdir():
        text = path.read_text()
        heads = list(HEAD.finditer(text))
        for head, following in zip(heads, [*heads[1:], None], strict=True):
            piece = text[head.end() : following.start() if following else None]
            if line := re.search("TOLD (.*)", piece):
                process, seat, leader, seed, hand, names = json.loads(line[1])
                round_number, match, deal, _ = (int(number) for number in head.groups())
                bot = path.stem.split("-", 1)[1]
                found.append(
                    Told(
                        bot, round_number, match, deal, process, seat, leader, seed,
                        tuple(hand), names,
                    )
                )  # fmt: skip
    return sorted(found, key=lambda told: (*told[1:4], told.seat))


def _deals(arena: Arena, out: str = "out") -> list[sqlite3.Row]:
    db = sqlite3.connect(arena.path / out / "results.sqlite")
    db.row_factory = sqlite3.Row
    rows = db.execute("SELECT * FROM deals ORDER BY round, match, deal").fetchall()
    db.close()
    return rows


@pytest.mark.parametrize(("duplicate", "rotations"), [(True, 3), (2, 2)])
def test_the_same_cards_are_played_once_in_each_rotation_by_fresh_processes(
    duplicate: object, rotations: int, arena: Arena
) -> None:
    bots = [_teller(arena, name) for name in ("ann", "ben", "cid", "dan")]
    config = arena.configure(
        bots, rules={"players": 3}, match={"duplicate": duplicate}, schedule={"rounds": 4}
    )
    arena.run("run", config, "--out", "out", "--jobs", 2)
    tables = defaultdict(list)
    for told in _told(arena):
        tables[told.round, told.match].append(told)
    assert len(tables) == 16
    for table in tables.values():
        assert len(table) == 3 * rotations
        for seat in range(3):
            here = [told for told in table if told.seat == seat]
            assert len({told.hand for told in here}) == 1  # the cards stay ..
            assert len({told.bot for told in here}) == rotations  # .. and the bots move
            assert len({told.seed for told in table}) == len(table)
        # No process ever meets cards that it knows.
        assert len({told.process for told in table}) == len(table)
    hands = {told.hand for told in _told(arena)}
    assert len(hands) == 16 * 3  # another deal at every table


def test_a_bot_with_a_memory_never_knows_the_cards(arena: Arena) -> None:
    """It keeps all cards that it has seen anybody play, and looks for them in its new hand."""
    watch = """
    for event in message["events"]:
        cards.setdefault(event.get("seat"), set()).update(event.get("play") or [])
    """
    deal = """
    if any(len(seen & set(deal["hand"])) >= 10 for seen in memory):
        print("I KNOW THESE CARDS", file=sys.stderr, flush=True)
    cards = {}
    """
    keep = """
    new = [seen for seen in cards.values() if len(seen) >= 10]
    memory += new
    open(BOOK, "a").writelines(json.dumps(sorted(seen)) + "\\n" for seen in new)
    """
    book = str(arena.path / "book")
    start = """
    memory = [set(json.loads(line)) for line in open(BOOK)] if os.path.exists(BOOK) else []
    """
    for out, known in (("out", False), ("by heart", True)):
        first = f"BOOK = {book!r}; memory = []\n" + (start.strip() if known else "")
        spies = [
            arena.bot(f"spy-{seat}", first=first, deal=deal, move=watch, result=watch + keep)
            for seat in range(3)
        ]
        config = arena.configure(spies, rules={"players": 3}, match={"duplicate": 2})
        arena.run("run", config, "--out", out, "--jobs", 1)
    assert "I KNOW THESE CARDS" not in arena.logs("out")
    assert "I KNOW THESE CARDS" in arena.logs("by heart")  # as it would be if it ever knew


def test_fresh_deals_in_a_row_and_the_winner_leads_the_next(arena: Arena) -> None:
    bots = [_teller(arena, name) for name in ("ann", "ben", "cid")]
    config = arena.configure(
        bots, rules={"players": 3}, match={"duplicate": False, "deals": 4}, reveal_names=True
    )
    arena.run("run", config, "--out", "out", "--jobs", 1)
    told = {(one.round, one.match, one.deal): one for one in _told(arena)}
    rows = _deals(arena)
    assert len({one.hand for one in _told(arena)}) == 3 * len(rows)
    assert len({one.process for one in _told(arena)}) == 3  # from match to match
    for row, following in pairwise(rows):
        if row["match"] == following["match"]:
            winner = [int(place) for place in re.findall(r"\d+", row["places"])].index(1)
            assert told[1, row["match"] + 1, following["deal"] + 1].leader == winner
    for one in told.values():
        assert one.names is not None
        assert one.names[one.seat] == one.bot


def test_in_speahx_the_dealer_rotates(arena: Arena) -> None:
    bots = [_teller(arena, name) for name in ("ann", "ben", "cid")]
    rules = {"players": 3, "max_turns": 40}
    match = {"duplicate": False, "deals": 5}
    config = arena.configure(bots, game="speahx", rules=rules, match=match)
    arena.run("run", config, "--out", "out", "--jobs", 1)
    leaders = defaultdict(list)
    for one in _told(arena):
        if one.seat == 0:
            leaders[one.match].append(one.leader)
        assert one.names is None
    for match_leaders in leaders.values():
        steps = {(b - a) % 3 for a, b in pairwise(match_leaders)}
        assert steps == {1}


def test_a_match_to_a_target_ends_when_one_alone_has_reached_it(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("ann", "ben", "cid")]
    match = {"duplicate": False, "target": 7}
    config = arena.configure(bots, rules={"players": 3}, match=match)
    arena.run("run", config, "--out", "out")
    totals: dict[int, list[float]] = {}
    over: set[int] = set()
    for row in _deals(arena):
        assert row["match"] not in over  # nothing is played after the end
        points = [float(number) for number in re.findall(r"-?[\d.]+", row["points"])]
        have = totals.setdefault(row["match"], [0.0] * 3)
        have[:] = [a + b for a, b in zip(have, points, strict=True)]
        if max(have) >= 7 and have.count(max(have)) == 1:
            over.add(row["match"])
    assert over == set(totals)


@pytest.mark.parametrize(
    ("keys", "processes"),
    [({}, 1), ({"restart": "match"}, 4)],
    ids=["kept from match to match", "renewed for every match"],
)
def test_how_long_processes_live(keys: dict[str, Any], processes: int, arena: Arena) -> None:
    bots = [_teller(arena, "ann"), _teller(arena, "ben")]
    match = {"duplicate": False, "deals": 2}
    config = arena.configure(bots, match=match, schedule={"rounds": 2}, **keys)
    arena.run("run", config, "--out", "out", "--jobs", 1)
    told = _told(arena)
    assert len(told) == 2 * 2 * 2 * 2
    for bot in ("ann", "ben"):
        assert len({one.process for one in told if one.bot == bot}) == processes


def test_a_bot_has_a_session_and_a_clean_environment_of_its_own(arena: Arena) -> None:
    tell = """
    print("SESSION", os.getsid(0), file=sys.stderr)
    print("HOME", os.environ["HOME"] == os.environ["TMPDIR"], file=sys.stderr)
    print("NAMES", *sorted(os.environ), file=sys.stderr)
    print("HASHSEED", os.environ["PYTHONHASHSEED"], file=sys.stderr, flush=True)
    """
    bots = [arena.bot("ann", deal=tell), arena.bot("ben", deal=tell)]
    config = arena.configure(bots, match={"duplicate": False})
    secret = {"A_SECRET": "x", "PYTHONUNBUFFERED": "1"}
    arena.run("run", config, "--out", "out", "--jobs", 1, env=secret)
    logs = arena.logs()
    sessions = {int(number) for number in re.findall(r"SESSION (\d+)", logs)}
    assert len(sessions) == 2
    assert os.getsid(0) not in sessions
    assert "HOME True" in logs
    assert "HASHSEED 0" in logs
    names = set(re.findall("NAMES (.*)", logs)[0].split())
    assert not names & {"A_SECRET", "PYTHONUNBUFFERED", "PYTHONPATH", "VIRTUAL_ENV"}


def test_what_is_past_the_time_for_a_move_is_drawn_from_the_bank(arena: Arena) -> None:
    bots = [arena.bot("ann", move="if answers <= 2: time.sleep(1.2)"), arena.bot("ben")]
    time = {"start": "60s", "move": "1s", "bank": "60s"}
    config = arena.configure(bots, time=time, match={"duplicate": False})
    arena.run("run", config, "--out", "out")
    assert [row["faults"] for row in arena.rows().values()] == [{}, {}]


def test_time_is_decided_before_legality(arena: Arena) -> None:
    late = arena.bot("late", move='time.sleep(3.5); answer = {"play": ["3S", "4C", "9H", "KD"]}')
    config = arena.configure(
        [late, arena.bot("good")], time={"start": "60s", "move": "1s"}, match={"duplicate": False}
    )
    arena.run("run", config, "--out", "out")
    assert set(arena.rows()["late"]["faults"]) == {"timeout"}


def test_the_last_table_of_a_knockout_says_who_has_won(arena: Arena) -> None:
    bots = [arena.bot("ann")]  # equal bots would share the first place
    for name, often in (("ben", 9), ("cid", 5), ("dan", 3)):
        bots.append(arena.bot(name, move=f"if luck // 7 % {often} == 0: sys.exit(1)"))
    config = arena.configure(
        bots, rules={"players": 2}, schedule={"format": "knockout", "games": 1}
    )
    told = arena.run("run", config, "--out", "out").stdout
    with closing(Store(arena.path / "out" / "results.sqlite")) as store:
        final = store.last_round() or 0
        last = list(store.records(range(final, final + 1)))
    points = Counter[int]()
    for record in last:
        points.update(dict(zip(record.seating, map(int, record.points), strict=True)))
    order = re.search(r"(\w+) has won the last table, before (\w+)", told)
    assert order is not None
    first, second = (["ann", "ben", "cid", "dan"].index(name) for name in order.groups())
    assert {first, second} == set(points)
    assert points[first] >= points[second]
    assert order[0] in arena.files()["standings.md"]
    assert "that is the result, and not this ranking" in told
    assert arena.table()["last_table"] == list(order.groups())
    page = (arena.path / "out" / "site" / "index.html").read_text("utf-8")
    assert page.index("won the final, ahead of") < page.index("<table")
    assert "more round" not in told
    with closing(Store(arena.path / "out" / "results.sqlite", create=True)) as store:
        store.change(complete=False)  # as before the last table
    assert "not the result: the last table decides" in arena.call("standings", "out").stdout


_WRITES_ITS_LIMITS = "open(os.environ['LIMITS'], 'a').write(json.dumps(limits) + chr(10))"
_WRITES_ITS_TIME = (
    "open(os.environ['LIMITS'], 'a').write(json.dumps([deal['seat'], message['time']]) + chr(10))"
)


def _timed(arena: Arena, name: str, **time: str) -> dict[str, Any]:
    """A bot that writes the limits it is sent into a file of its name."""
    entry = arena.bot(name, hello=_WRITES_ITS_LIMITS, move=_WRITES_ITS_TIME)
    entry["env"]["LIMITS"] = str(arena.path / f"{name}.limits")
    return entry | ({"time": time} if time else {})


def _limits(arena: Arena, name: str) -> tuple[set[tuple[int, int, int]], set[int]]:
    """The limits in the `hello` messages of a bot, and the times that it had for its moves."""
    text = (arena.path / f"{name}.limits").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    limits = {(one["start"], one["move"], one["bank"]) for one in lines if isinstance(one, dict)}
    return limits, {one[1]["move"] for one in lines if isinstance(one, list)}


def test_a_bot_plays_under_its_own_time_limits_and_pages_show_them(arena: Arena) -> None:
    bots = [_timed(arena, "usual"), _timed(arena, "slow", move="70s", bank="5s")]
    config = arena.configure(bots)
    arena.run("run", config, "--out", "out")
    assert _limits(arena, "usual") == ({(60_000, 60_000, 0)}, {60_000})
    assert _limits(arena, "slow") == ({(60_000, 70_000, 5_000)}, {70_000})
    note = "Bots with time limits of their own: slow: move 70 s, bank 5 s a deal"
    assert note in arena.call("standings", "out").stdout
    assert note in (arena.path / "out" / "index.html").read_text("utf-8")
    site = json.loads((arena.path / "out" / "site" / "tournament.json").read_text("utf-8"))
    assert site["bots"][1]["own_time"] == {"start_ms": None, "move_ms": 70_000, "bank_ms": 5_000}
    assert "all is as it should be" in arena.run("verify", "out", "--sample", "4").stdout
    with closing(Store(arena.path / "out" / "results.sqlite")) as store:
        seat = next(store.records()).seating.index(1)
    inputs = arena.call("replay", "out", "1", "--lines", "--seat", seat).stdout
    assert json.loads(inputs.splitlines()[0])["limits"]["move"] == 70_000


def test_time_limits_change_from_the_next_round_on_with_a_public_reason(arena: Arena) -> None:
    bots = [_timed(arena, "one"), _timed(arena, "two", move="70s")]
    arena.run("run", arena.configure(bots), "--out", "out")
    later = {"time": {"start": "60s", "move": "80s"}, "schedule": {"rounds": 2}}
    del bots[1]["time"]
    config = arena.configure(bots, **later)
    refused = arena.run("run", config, "--out", "out", status=2).stderr
    assert "time.move: was 1m, is 80s" in refused
    assert "the time of the bot 'two' was move 70 s, is the tournament's" in refused
    assert "--change-time REASON" in refused
    for name in ("one", "two"):
        (arena.path / f"{name}.limits").unlink()

    ended = arena.run("run", config, "--out", "out", "--change-time", "a slower machine")
    assert "from round 2 on, other time limits apply: a slower machine" in ended.stderr
    assert _limits(arena, "one") == _limits(arena, "two") == ({(60_000, 80_000, 0)}, {80_000})
    page = (arena.path / "out" / "index.html").read_text("utf-8")
    said = "time limits from round 2 on: start 60 s, move 80 s, bank 0 s a deal"
    assert f"{said}; two: those of the tournament" in page
    assert "a slower machine" in page
    assert "all is as it should be" in arena.run("verify", "out", "--sample", "8").stdout
    again = arena.run("run", config, "--out", "out", "--change-time", "a slower machine")
    assert "are those in force already" in again.stderr
    assert said in (arena.path / "out" / "site" / "feed.xml").read_text("utf-8")


def test_an_anchor_fixes_a_rating_and_may_change_at_any_time(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "staff")]
    bots[2] |= {"reference": True, "anchor": 25}
    config = arena.configure(bots, schedule={"rounds": 4})
    arena.run("run", config, "--out", "out")
    first = arena.table()
    assert first["anchor"] == {"name": "staff", "mu": 25.0}
    mu = {row["name"]: row["mu"] for row in first["entrants"]}
    assert mu["staff"] == 25
    assert (
        "Ratings are anchored: staff has 25 by definition" in arena.call("standings", "out").stdout
    )
    assert "all is as it should be" in arena.run("verify", "out", "--sample", "0").stdout

    bots[2]["anchor"] = 1500
    again = arena.run("run", arena.configure(bots, schedule={"rounds": 4}), "--out", "out")
    assert "played" not in again.stdout
    later = {row["name"]: row["mu"] for row in arena.table()["entrants"]}
    assert later == pytest.approx({name: value + 1475 for name, value in mu.items()})

    arena.run("withdraw", "out", "staff", "--reason", "it is over")
    arena.run("run", arena.configure(bots[:2], schedule={"rounds": 5}), "--out", "out")
    assert arena.table()["anchor"] == {"name": "staff", "mu": 1500.0}
    assert arena.rows()["staff"]["status"] == "reference"
