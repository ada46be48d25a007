"""Bots that fail among bots that do not: the run goes on, and only the right ones are blamed."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from whole_program import Arena

QUICK = {
    "crash_move": "crash",
    "illegal": "illegal",
    "endless": "flood",
    "no_newline": "flood",
    "memory": "memory",
}
SLOW = {"late": "timeout", "silent": "timeout", "not_utf8": "malformed"}
"""These are only found out when the time for a move is over."""
UNTIDY = (
    "child_left_behind", "crlf", "extra_fields", "ignores_sigterm", "noisy_stderr",
    "one_deal", "partial_writes", "stray_bytes", "stray_prints",
)  # fmt: skip


GAMES = {
    "tienlen": {"game": "tienlen", "rules": {"players": 2}},
    "speahx": {"game": "speahx", "rules": {"players": 2, "max_turns": 30}},
}


@pytest.mark.parametrize("game", ["tienlen", pytest.param("speahx", marks=pytest.mark.slow)])
def test_faulty_bots_are_blamed_and_good_ones_are_not(game: str, arena: Arena) -> None:
    config = _field(arena, QUICK, time={"start": "60s", "move": "60s"}, **GAMES[game])
    arena.run("run", config, "--out", "out")
    _check(arena, QUICK)


@pytest.mark.parametrize("game", ["tienlen", pytest.param("speahx", marks=pytest.mark.slow)])
def test_bots_that_give_no_answer_in_time_are_blamed_alone(game: str, arena: Arena) -> None:
    config = _field(arena, SLOW, time={"start": "60s", "move": "2s"}, **GAMES[game])
    arena.run("run", config, "--out", "out", "--jobs", 6, "--no-pin")
    _check(arena, SLOW)


def _field(arena: Arena, faulty: dict[str, str], **keys: Any) -> Path:
    """Configure as many good bots as faulty ones, in turn."""
    bots = []
    for folder in faulty:
        bots += [arena.bundled(f"faulty/{folder}", folder), arena.bot(f"good beside {folder}")]
    return arena.configure(bots, match={"duplicate": False}, limits={"memory": "96M"}, **keys)


def _check(arena: Arena, faulty: dict[str, str]) -> None:
    rows = arena.rows()
    assert arena.table()["complete"]
    for name, row in rows.items():
        assert row["deals"] == 2
        assert set(row["faults"]) == ({faulty[name]} if name in faulty else set()), name
    for fault in _faults(arena):
        assert fault["place"] == 2  # as one that forfeits
        assert fault["points"] == 0
    assert arena.is_clean()


def test_untidy_bots_simply_work(arena: Arena) -> None:
    bots = [arena.bundled(f"untidy/{folder}", folder) for folder in UNTIDY]
    config = arena.configure(bots, rules={"players": 4}, match={"duplicate": False})
    arena.run("run", config, "--out", "out")
    assert [row["faults"] for row in arena.table()["entrants"]] == [{}] * len(UNTIDY)
    assert arena.is_clean()  # not even the children that were left behind


def test_a_match_goes_on_without_those_that_fail_and_the_earlier_fault_is_the_lower(
    arena: Arena,
) -> None:
    """Whoever leads fails first and is last; the others still play for the places above."""
    bots = [arena.bot(name, move="sys.exit(1)") for name in ("bad-1", "bad-2")]
    bots += [arena.bot("good"), arena.bot("fine")]
    config = arena.configure(bots, rules={"players": 3}, match={"duplicate": False})
    arena.run("run", config, "--out", "out")
    failed: dict[int, list[int]] = {}
    for fault in _faults(arena):
        failed.setdefault(fault["match"], []).append(fault["place"])
    assert sorted(failed.values()) == [[3], [3], [3, 2], [3, 2]]
    good, fine = (arena.rows()[name]["places"] for name in ("good", "fine"))
    assert [sum(both) for both in zip(good, fine, strict=True)] == [4, 2, 0]


def test_a_fault_is_kept_with_its_request_its_answer_and_its_stderr(arena: Arena) -> None:
    move = (
        'print("thinking of", legal[0], file=sys.stderr, flush=True); answer = {"play": ["3S"] * 9}'
    )
    config = arena.configure([arena.bot("bad", move=move), arena.bot("good")])
    arena.run("run", config, "--out", "out")
    fault = _faults(arena)[0]
    assert fault["kind"] in {"illegal", "malformed"}
    assert '"type":"move"' in fault["request"]
    assert fault["answer"].count("3S") == 9
    assert "thinking of" in fault["stderr"]
    assert f"FAULT {fault['kind']}: {fault['cause']}" in arena.logs()


def test_all_of_stderr_is_kept_for_the_first_twenty_faults(arena: Arena) -> None:
    shout = "sys.stderr.write('shout ' * 8000); sys.stderr.flush(); sys.exit(1)"
    bots = [arena.bot("bad", move=shout), arena.bot("good"), arena.bot("fine")]
    match = {"duplicate": False, "deals": 12}
    config = arena.configure(bots, match=match, on_fault="substitute", max_faults=1)
    arena.run("run", config, "--out", "out", "--jobs", 1)
    lengths = [len(fault["stderr"]) for fault in _faults(arena)]
    assert len(lengths) > 20
    assert all(length >= 6 * 8000 for length in lengths[:20])
    assert all(0 < length < 6 * 8000 for length in lengths[20:])


def _faults(arena: Arena) -> list[dict[str, Any]]:
    db = sqlite3.connect(arena.path / "out" / "results.sqlite")
    db.row_factory = sqlite3.Row
    found = db.execute(
        "SELECT faults.*, places ->> seat AS place, points ->> seat AS points"
        " FROM faults JOIN deals USING (round, match, deal) ORDER BY round, match, deal, number"
    ).fetchall()
    db.close()
    return [dict(row) for row in found]


SUBSTITUTE = {"on_fault": "substitute", "match": {"duplicate": False, "deals": 4}}


def test_a_move_is_played_for_a_bot_up_to_the_limit_of_faults_in_a_match_then_it_forfeits(
    arena: Arena,
) -> None:
    bad = arena.bot("bad", move="sys.exit(1)")
    config = arena.configure([bad, arena.bot("good")], max_faults=3, **SUBSTITUTE)
    arena.run("run", config, "--out", "out", "--jobs", 1)
    by_match: dict[int, list[int]] = {}
    for fault in _faults(arena):
        by_match.setdefault(fault["match"], []).append(fault["substituted"])
    assert by_match
    for substituted in by_match.values():
        assert substituted[:3] == [1, 1, 1]
        assert not any(substituted[3:])


def test_a_benched_bot_forfeits_and_plays_again_on_one_command(arena: Arena) -> None:
    bad = arena.bot("bad", move="sys.stderr.write('I was asked\\n'); sys.exit(1)")
    bots = [bad, arena.bot("good"), arena.bot("fine")]
    config = arena.configure(bots, schedule={"rounds": 9})
    run = arena.run("run", config, "--out", "1", "--jobs", 1)
    arena.run("run", config, "--out", "3", "--jobs", 3)
    assert arena.files("1") == arena.files("3")
    benched = "bad is benched, and forfeits its deals from here on: all of its last 10 deals failed"
    assert benched in run.stderr + run.stdout
    row = arena.rows("1")["bad"]
    assert (row["deals"], row["faults"], row["forfeits"]) == (36, {"crash": 32}, 4)
    assert arena.logs("1").count("I was asked") == 32
    assert "forfeited unplayed: all of its last 10 deals failed" in arena.logs("1")
    arena.run("unbench", "1", "bad")
    row = arena.rows("1")["bad"]
    assert (row["deals"], row["faults"], row["forfeits"]) == (32, {"crash": 32}, 0)
    arena.run("run", config, "--out", "1")
    row = arena.rows("1")["bad"]
    assert (row["deals"], row["faults"], row["forfeits"]) == (36, {"crash": 36}, 0)
    arena.run("verify", "1")


def test_a_bot_that_fails_in_most_deals_goes_on_playing(arena: Arena) -> None:
    bad = arena.bot(
        "bad", deal="lucky = deal['hand'][0][0] == '3'", move="if not lucky: sys.exit(1)"
    )
    bots = [bad, arena.bot("good"), arena.bot("fine")]
    config = arena.configure(bots, schedule={"rounds": 3})
    arena.run("run", config, "--out", "out")
    row = arena.rows()["bad"]
    assert 0 < row["faults"]["crash"] < row["deals"]
    assert "forfeited unplayed" not in arena.logs()


def test_a_stray_line_is_a_fault_where_it_is_strict(arena: Arena) -> None:
    """Elsewhere it is none: an untidy bot above prints some."""
    bots = [arena.bot("talks", move="print('hm')"), arena.bot("good")]
    arena.run("run", arena.configure(bots, strict=True), "--out", "out")
    assert set(arena.rows()["talks"]["faults"]) == {"malformed"}


SHOUTS = """
sys.stderr.write("\\x1b[2J\\x9b31m" + os.getcwd() + "\\n")
print("\\x1b]0;mine\\x07", flush=True)
print(json.dumps({"id": message["id"], **answer, "debug": "\\x1b[31m" + os.getcwd()}), flush=True)
if answers % 9 == 0: raise RuntimeError("\\x1b[5m" + sys.executable)
continue
"""


def test_a_site_has_no_control_characters_and_no_folders_of_the_organiser(arena: Arena) -> None:
    """A bot writes them wherever it can: on both streams, in its notes, and in a traceback."""
    bots = [arena.bot("shouts", move=SHOUTS), arena.bot("one"), arena.bot("two")]
    config = arena.configure(bots, schedule={"rounds": 4})
    arena.run("run", config, "--out", "out")
    arena.run("publish", "out", "--to", "site", "--logs", "all", "--debug", "--replays", 99)
    assert arena.rows()["shouts"]["faults"] != {}
    files = [path for path in (arena.path / "site").rglob("*") if path.is_file()]
    hidden = [b"\x1b", b"\xc2\x9b", b"\x07", str(arena.path).encode()]
    found = [(path.name, text) for path in files for text in hidden if text in path.read_bytes()]
    assert found == []
    assert any(b"RuntimeError" in path.read_bytes() for path in files)
