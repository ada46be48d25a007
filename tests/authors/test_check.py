from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pexpect
import pytest
from authors_program import BOTS, Program

ROOMY = f"""\
game: tienlen
rules: {{players: 2}}
bots: [{BOTS}/random, {BOTS}/greedy]
time: {{start: 30s, move: 10s}}
limits: {{memory: 256M}}
"""
QUICK = ROOMY.replace("start: 30s", "start: 500ms")
QUICKLY = ("--deals", "2", "--time", "1")
"""For checks in which the rules are not the point."""
HASTY = ROOMY.replace("move: 10s", "move: 300ms")

UNTIDY = {
    "child_left_behind": "left processes behind: 2",
    "crlf": r"lines end with \r\n",
    "extra_fields": "fields that are not read: list, mood, nested, trailing",
    "ignores_sigterm": "does not end within 2 s of the end of its input",
    "one_deal": "ended between two deals, before its input did",
    "noisy_stderr": "wrote 2097152 bytes to stderr in one deal",
    "partial_writes": "writes a line in 4 pieces",
    "stray_bytes": "writes bytes to stdout that are not UTF-8",
    "stray_prints": "prints lines to stdout that are not answers, the first: not a ready message",
}
"""The warning that fits each bot."""

FAULTY = {
    "crash_start": ("start", "the stderr below says why it ended"),
    "crash_move": ("crash", "the stderr below says where it ended"),
    "illegal": ("illegal", "the rule is named above"),
    "late": ("timeout", "think less"),
    "silent": ("timeout", "flush stdout after each answer"),
    "endless": ("flood", "print one line for each request"),
    "no_newline": ("flood", "end each answer with a newline"),
    "not_utf8": ("malformed", "in UTF-8"),
    "memory": ("memory", "keep less"),
}
"""The fault of each bot, and how to fix it."""

GOOD_BOT = """\
import json, sys

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {"type": ""}
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "name": "good", "legal": "canonical"}), flush=True)
    elif message["type"] == "move":
        print(json.dumps({"id": message["id"], **message["legal"][0]}), flush=True)
"""

WEAK_SPOTS = {
    "fails at unknown types": (
        'elif message["type"] == "move":',
        """elif message["type"] not in ("deal", "move", "result", ""):
        raise ValueError(line)
    elif message["type"] == "move":""",
        "unknown types of messages",
    ),
    "looks for text instead of reading JSON": (
        'elif message["type"] == "move":',
        'elif \'{"type":"move"\' in line:',
        "unknown fields",
    ),
    "takes blanks for an error": (
        "message = json.loads(line)",
        'assert \'", "\' not in line and "\\" : \\"" not in line; message = json.loads(line)',
        "blanks in the JSON",
    ),
    r"cannot read \r\n": (
        "message = json.loads(line)",
        'assert "\\r" not in line; message = json.loads(line)',
        r"lines that end with \r\n",
    ),
}
"""(what to change in the good bot, into what, the first check that fails then)."""


def bot(tourney: Program, source: str, name: str = "mine") -> Path:
    tourney.write(f"{name}/bot.py", source)
    manifest = f'name: {name}\ncommand: ["{{python}}", -E, -S, -X, utf8, bot.py]\n'
    return tourney.write(f"{name}/bot.yaml", manifest).parent


def report(tourney: Program, folder: Path, config: str = ROOMY) -> tuple[int, dict[str, Any]]:
    tourney.write("league.yaml", config)
    done = tourney("check", folder, "--config", "league.yaml", "--json", *QUICKLY)
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def of(document: dict[str, Any], verdict: str) -> list[dict[str, Any]]:
    return [check for check in document["checks"] if check["verdict"] == verdict]


def test_a_report_for_programs_is_utf_8_whatever_the_locale_says(tourney: Program) -> None:
    folder = bot(tourney, "raise SystemExit", "\N{GAME DIE}")
    poor = Program(tourney.folder, {**tourney.environment, "PYTHONIOENCODING": "latin-1"})
    done = poor.program("check", folder, "--json", *QUICKLY)
    assert json.loads(done.stdout)["bot"] == "\N{GAME DIE}"


def test_a_good_bot_passes_all_checks_of_both_games(tourney: Program) -> None:
    done = tourney("check", BOTS / "random", "--json", "--deals", "20")
    document = json.loads(done.stdout)
    assert (done.returncode, document["passed"]) == (0, True)
    names = " | ".join(check["name"] for check in document["checks"])
    for tried in (
        "tienlen: 2 players",
        "tienlen: 4 players, other rules",
        "tienlen: a deal that the cards decide at once",
        "speahx: 14 players, table_cards 5, decks 3",
        "speahx: 4 players, preset letter",
        "speahx: 4 players, preset author",
        "speahx: a long message (14 players",
        r"lines that end with \r\n",
        "unknown fields",
        "unknown types of messages",
        "tienlen: the rules one by one",
        "speahx: the rules one by one",
        "ended in the middle of a deal and started again",
        "the same deal again in a new process",
        "output and ending",
    ):
        assert tried in names
    timed = [check for check in document["checks"] if "timing" in check]
    assert len(timed) >= 15
    for check in timed:
        timing = check["timing"]
        assert timing["median_ms"] <= timing["worst_ms"]
        assert timing["share"] == pytest.approx(timing["worst_ms"] / timing["limit_ms"], abs=1e-3)
        assert check["sent"]
        assert check["received"]


@pytest.mark.parametrize("name", ["greedy", "planner"])
def test_the_better_bundled_bots_pass_without_a_warning(tourney: Program, name: str) -> None:
    status, document = report(tourney, BOTS / name)
    assert (status, of(document, "failed"), of(document, "warning")) == (0, [], [])


def test_every_bundled_bot_with_a_flaw_is_tried_here() -> None:
    for kind, table in (("untidy", UNTIDY), ("faulty", FAULTY)):
        assert set(table) == {path.parent.name for path in BOTS.glob(f"{kind}/*/bot.yaml")}


@pytest.mark.parametrize(("name", "warning"), UNTIDY.items(), ids=UNTIDY)
def test_untidy_bots_pass_with_a_warning_that_fits(
    tourney: Program, name: str, warning: str
) -> None:
    status, document = report(tourney, BOTS / "untidy" / name)
    assert (status, document["passed"]) == (0, True)
    warnings = of(document, "warning")
    assert any(warning in check["found"] for check in warnings)
    assert all(check["fix"] for check in warnings)


@pytest.mark.parametrize(("name", "expected"), FAULTY.items(), ids=FAULTY)
def test_faulty_bots_fail_each_for_its_own_reason(
    tourney: Program, name: str, expected: tuple[str, str]
) -> None:
    config = HASTY if expected[0] in ("timeout", "malformed") else ROOMY
    status, document = report(tourney, BOTS / "faulty" / name, config)
    (failed,) = of(document, "failed")
    assert (status, document["passed"], failed["kind"]) == (2, False, expected[0])
    assert expected[1] in failed["fix"]
    assert json.loads(failed["sent"])["type"] == ("hello" if expected[0] == "start" else "move")


@pytest.mark.parametrize(
    "spot",
    [
        pytest.param(spot, id=name, marks=[pytest.mark.slow] if "blanks" in name else [])
        for name, spot in WEAK_SPOTS.items()
    ],
)
def test_what_a_later_version_may_send_is_tried(
    tourney: Program, spot: tuple[str, str, str]
) -> None:
    old, new, check = spot
    assert old in GOOD_BOT
    status, document = report(tourney, bot(tourney, GOOD_BOT.replace(old, new)), HASTY)
    assert status == 2
    assert of(document, "failed")[0]["name"].startswith(check)


KEEPS_ITS_HAND = """\
import json, sys

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {"type": ""}
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "legal": "canonical"}), flush=True)
    elif message["type"] == "deal":
        hand = set(message["hand"])
    elif message["type"] == "move":
        assert hand == set(message["view"]["hand"]), "somebody has changed my hand"
        hand -= set(message["legal"][0].get("play", ()))
        print(json.dumps({"id": message["id"], **message["legal"][0]}), flush=True)
"""


def test_a_bot_that_trusts_its_memory_fails_after_a_restart(tourney: Program) -> None:
    status, document = report(tourney, bot(tourney, KEEPS_ITS_HAND))
    (failed,) = of(document, "failed")
    assert (status, failed["kind"]) == (2, "crash")
    assert failed["name"] == "ended in the middle of a deal and started again"
    assert "somebody has changed my hand" in failed["stderr"]


def test_play_that_does_not_repeat_is_a_warning(tourney: Program) -> None:
    source = GOOD_BOT.replace("import json", "import random, json").replace(
        'message["legal"][0]', 'random.choice(message["legal"])'
    )
    status, document = report(tourney, bot(tourney, source))
    assert status == 0
    assert "`seed` of each `deal`" in " ".join(check["fix"] for check in of(document, "warning"))


MANY_THREADS = """\
import threading

for _ in range(45):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
"""


def test_what_a_tournament_allows_is_allowed_in_every_trial(tourney: Program) -> None:
    config = ROOMY.replace("memory: 256M", "processes: 100")
    status, document = report(tourney, bot(tourney, MANY_THREADS + GOOD_BOT), config)
    assert (status, of(document, "warning")) == (0, [])


def test_a_build_that_fails_is_shown(tourney: Program) -> None:
    folder = bot(tourney, GOOD_BOT)
    with (folder / "bot.yaml").open("a") as file:
        file.write("build: [[sh, -c, 'echo no such header >&2; exit 3']]\n")
    done = tourney("check", folder)
    assert done.returncode == 2
    assert "FAILED   build: the bot 'mine' does not build" in done.stdout
    assert "fix: run its build by hand in a copy of its folder" in done.stdout
    assert "no such header" in [line.strip() for line in done.stdout.splitlines()]


NODE_LIKE = """\
import json, sys

for line in sys.stdin:
    if json.loads(line)["type"] == "hello":
        print('{"type": "ready"}', flush=True)
    elif json.loads(line)["type"] == "move":
        print("TypeError: no legal plays", *range(40), sep="\\n", file=sys.stderr)
        sys.exit(1)
"""


def test_both_ends_of_a_long_stderr_are_shown(tourney: Program) -> None:
    tourney.write("league.yaml", ROOMY)
    done = tourney("check", bot(tourney, NODE_LIKE), "--config", "league.yaml", *QUICKLY)
    shown = [line.strip() for line in done.stdout.splitlines()]
    assert {"TypeError: no legal plays", "... (29 lines)", "39"} < set(shown)


def test_a_crash_without_a_word_is_not_sent_to_read_its_stderr(tourney: Program) -> None:
    source = NODE_LIKE.replace('print("TypeError', 'False and print("TypeError')
    _, document = report(tourney, bot(tourney, source), ROOMY)
    (failed,) = of(document, "failed")
    assert failed["fix"].startswith("it left no words on stderr")


def test_an_answer_without_an_id_is_told_what_it_lacks(tourney: Program) -> None:
    source = GOOD_BOT.replace('"id": message["id"], ', "")
    _, document = report(tourney, bot(tourney, source), HASTY)
    (failed,) = of(document, "failed")
    assert failed["fix"] == "copy the `id` of the request into its answer"


NOT_STARTED = {
    "a file outside of its folder": ("#!/bin/sh\ncat ../mine.txt && read line\n", "relative path"),
    "nothing to say": ("#!/bin/sh\nread line; sleep 60\n", "without waiting for the end of the"),
}
"""(the program of a bot that does not get ready, what helps)."""


@pytest.mark.parametrize(("program", "fix"), NOT_STARTED.values(), ids=NOT_STARTED)
def test_a_bot_that_does_not_get_ready_is_told_why(
    tourney: Program, program: str, fix: str
) -> None:
    tourney.write("mine.txt", "mine")
    tourney.write("mine/bot", program).chmod(0o755)
    tourney.write("mine/bot.yaml", "name: mine\ncommand: ./bot\n")
    status, document = report(tourney, tourney.folder / "mine", QUICK)
    (failed,) = of(document, "failed")
    assert (status, failed["kind"]) == (2, "start")
    assert fix in failed["fix"]


def test_a_script_without_its_interpreter_is_told_which_that_is(tourney: Program) -> None:
    tourney.write("mine/bot", "#!/bin/sh\r\nread line\r\n").chmod(0o755)
    tourney.write("mine/bot.yaml", "name: mine\ncommand: ./bot\n")
    status, document = report(tourney, tourney.folder / "mine", QUICK)
    (failed,) = of(document, "failed")
    assert status == 2
    assert "'/bin/sh\\r'" in failed["found"]
    assert "the line ends with a carriage return" in failed["found"]


@pytest.mark.slow  # it is about a wait of more than ten seconds
def test_a_person_is_told_what_takes_so_long(tourney: Program) -> None:
    tourney.write("mine/bot", NOT_STARTED["nothing to say"][0]).chmod(0o755)
    tourney.write("mine/bot.yaml", "name: mine\ncommand: ./bot\n")
    tourney.write("league.yaml", ROOMY.replace("start: 30s", "start: 15s"))
    child = tourney.at_a_terminal("check", "mine", "--config", "league.yaml", *QUICKLY)
    child.expect_exact("waiting for mine: tienlen: start (10 s so far)")
    child.expect_exact("mine is not ready for a tournament: 1 check failed")
    child.expect_exact(pexpect.EOF)


def test_a_wrong_manifest_is_told_with_its_line(tourney: Program) -> None:
    folder = bot(tourney, GOOD_BOT)
    (folder / "bot.yaml").write_text(
        "name: mine\ncommand: [no-such-language, bot.x]\ncolour: red\n"
    )
    done = tourney("check", folder)
    assert done.returncode == 2
    assert "mine/bot.yaml:3:1: colour: unknown key" in done.stderr
    (folder / "bot.yaml").write_text("name: mine\ncommand: [no-such-language, bot.x]\n")
    done = tourney("check", folder)
    assert done.returncode == 2
    assert "'no-such-language', there is no such program on the search path" in done.stderr


OWN_RULES = """\
import json, sys
from own_rules import TienlenBot

bot = TienlenBot("longest", WRONG)
for line in sys.stdin:
    message = json.loads(line) if line.strip() else {"type": ""}
    if message["type"] == "hello":
        print('{"type": "ready"}', flush=True)
    if answer := bot.tell(message):
        print(json.dumps(answer), flush=True)
"""


def own_rules(tourney: Program, wrong: str) -> Path:
    folder = bot(tourney, OWN_RULES.replace("WRONG", repr(wrong)))
    (folder / "bot.yaml").write_text('name: mine\ncommand: ["{python}", -S, bot.py]\n')
    shutil.copy(Path(__file__).with_name("own_rules.py"), folder)
    return folder


def test_a_wrong_rule_is_shown_with_the_request_and_the_answer(tourney: Program) -> None:
    folder = own_rules(tourney, "three pairs on two 2s")
    done = tourney("check", folder, "--game", "tienlen", "--json")
    wrong = [check for check in json.loads(done.stdout)["checks"] if check["verdict"] == "failed"]
    assert done.returncode == 2
    assert {check["kind"] for check in wrong} == {"illegal"}  # random deals may show it, too
    name = "tienlen: H20: double sequence of 3 pairs on pair of 2s"
    [found] = [check for check in wrong if check["name"] == name]
    assert len(json.loads(found["received"])["play"]) == 6
    assert {card[0] for card in json.loads(found["sent"])["view"]["table"]["cards"]} == {"2"}


def test_the_verdict_says_what_was_covered(tourney: Program) -> None:
    done = tourney("check", own_rules(tourney, ""), "--game", "tienlen", "--deals", "4")
    assert done.returncode == 0, done.stdout
    assert re.search(r"one by one: [\d,]+ positions, \d+ of \d+ points of the rules", done.stdout)


def test_one_game_of_the_bots_own_can_be_tried(tourney: Program) -> None:
    done = tourney("check", BOTS / "random", "--game", "speahx", *QUICKLY)
    assert (done.returncode, "tienlen" in done.stdout) == (0, False)
    done = tourney("check", BOTS / "random", "--game", "chess")
    assert (done.returncode, "there is no game 'chess'" in done.stderr) == (2, True)


def test_a_folder_that_is_not_there_is_told_in_plain_words(tourney: Program) -> None:
    tourney.write("league.yaml", ROOMY)
    for words in (["check", "nowhere"], ["run", "league.yaml", "--add", "nowhere"]):
        done = tourney(*words)
        assert done.returncode == 2
        assert done.stderr == "nowhere: found 'nowhere', which is not there, expected a folder\n"


def test_a_bot_of_another_game_is_refused_for_a_tournament(tourney: Program) -> None:
    folder = bot(tourney, GOOD_BOT)
    with (folder / "bot.yaml").open("a") as file:
        file.write("games: [speahx]\n")
    tourney.write("league.yaml", ROOMY)
    done = tourney("check", folder, "--config", "league.yaml", *QUICKLY)
    assert (done.returncode, done.stdout) == (2, "")
    assert "plays speahx, expected one that plays tienlen" in done.stderr


def test_a_bot_for_one_game_is_told_to_say_so(tourney: Program) -> None:
    answer = '        print(json.dumps({"id"'
    looks = '        message["view"]["pile"]\n'  # it fails where there is none: no wait for a limit
    folder = bot(tourney, GOOD_BOT.replace(answer, looks + answer))
    done = tourney("check", folder)
    assert done.returncode == 2
    assert "if it is not meant to play tienlen, write there games: [speahx]" in done.stdout
    with (folder / "bot.yaml").open("a") as file:
        file.write("games: [speahx]\n")
    assert tourney("check", folder).returncode == 0


def test_the_text_shows_what_was_sent_and_what_came_back(tourney: Program) -> None:
    rules = "{players: 2, bombs_may_lead: false}"
    tourney.write("league.yaml", ROOMY.replace("{players: 2}", rules))
    done = tourney("check", BOTS / "faulty" / "crash_move", "--config", "league.yaml", *QUICKLY)
    assert done.returncode == 2
    assert (
        "FAILED   tienlen: 2 players, as configured: crash: it exited with status 1" in done.stdout
    )
    assert "rules: bombs_may_lead false" in done.stdout
    assert 'sent: {"type":"move","id":' in done.stdout
    assert "received: (nothing)" in done.stdout
    assert "RuntimeError: crash-move: this bot always fails at its first move" in done.stdout
    assert "crash-move is not ready for a tournament: 1 check failed" in done.stdout
