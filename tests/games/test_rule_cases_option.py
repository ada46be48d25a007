"""`pytest --rule-cases FILE`, as somebody with a file of cases would use it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.testing import read_cases

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = {
    "id": "TL-right",
    "what": "single",
    "config": {},
    "hand": ["7D", "4C"],
    "state": {"players": 4, "turn": 0, "table": None},
    "action": {"seat": 0, "play": ["7D"]},
    "legal": True,
    "expect": {"type": "single", "next": 1},
}


def case(**changes: Any) -> dict[str, Any]:
    return {**RIGHT, **changes}


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run pytest in a folder; gives its exit status and all that it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tourney_runner.testing", "-v", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def write(file: Path, *cases: dict[str, Any]) -> str:
    file.write_text("".join(json.dumps(case) + "\n" for case in cases))
    return file.name


GAME = """
from tourney_runner.games.tienlen.game import Tienlen

class Other(Tienlen):
    name = "other"
    rule_case_prefix = "OT"
    rule_cases = "othercases"

GAME = Other()
"""


def test_cases_of_an_installed_game_are_checked_by_its_own_module(tmp_path: Path) -> None:
    (tmp_path / "othergame.py").write_text(GAME)
    (tmp_path / "othercases.py").write_text(
        "def check_case(case):\n    assert case['action'] == {'seat': 0}, 'the seat is wrong'\n"
    )
    info = tmp_path / "othergame-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: othergame\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tourney.games]\nother = othergame:GAME\n")
    file = write(
        tmp_path / "cases.jsonl",
        case(id="OT-1", action={"seat": 0}),
        case(id="OT-2", action={"seat": 1}),
    )
    status, output = run(tmp_path, "--rule-cases", file)
    assert status == pytest.ExitCode.TESTS_FAILED, output
    assert "1 failed, 1 passed" in output
    assert "the seat is wrong" in output


def test_only_the_cases_of_the_files_run_whatever_the_folder(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", RIGHT, case(id="TL-other"))
    two = write(tmp_path / "two.jsonl", case(id="TL-third"))
    status, output = run(tmp_path, "--rule-cases", one, "--rule-cases", two)
    assert status == 0, output
    assert "3 passed" in output
    for name in ("TL-right", "TL-other", "TL-third"):
        assert f"test_rule_case[{name}] PASSED" in output
    assert sorted(path.name for path in tmp_path.iterdir()) == [one, two]


WRONG = {
    "the verdict is the other one": case(legal=False),
    "a card is not held": case(hand=["4C"]),
    "type: 'pair' is not": case(expect={"type": "pair"}),
    "next: 2 is not": case(expect={"next": 2}),
    "no such fact is known here: 'colour'": case(expect={"colour": "red"}),
    "unknown in the state: ['wind']": case(state={**RIGHT["state"], "wind": "east"}),
    "no game's rule cases begin with 'XX'": case(),
}
"""Cases that do not hold, by what is said of them."""


def test_cases_that_do_not_hold_fail_and_say_why(tmp_path: Path) -> None:
    wrong = [
        {**wrong, "id": f"{'XX' if 'XX' in cause else 'TL'}-{number}"}
        for number, (cause, wrong) in enumerate(WRONG.items())
    ]
    status, output = run(tmp_path, "--rule-cases", write(tmp_path / "cases.jsonl", RIGHT, *wrong))
    assert status == pytest.ExitCode.TESTS_FAILED, output
    assert f"{len(WRONG)} failed, 1 passed" in output
    for cause in WRONG.keys() - {"a card is not held"}:
        assert cause in output


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{", "cases.jsonl:2: not JSON"),
        ("[]", "cases.jsonl:2: a case is a JSON object, not []"),
        ('{"id": 3}', "cases.jsonl:2: a case needs 'id', a str"),
        ('{"id": "TL-1", "action": {}}', "cases.jsonl:2: a case needs 'legal', a bool"),
    ],
)
def test_a_line_that_is_no_case_is_named(tmp_path: Path, line: str, cause: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(f"{json.dumps(RIGHT)}\n{line}\n")
    with pytest.raises(pytest.UsageError, match=re.escape(cause)):
        read_cases(file)


def test_a_file_that_cannot_be_read_stops_the_run(tmp_path: Path) -> None:
    status, output = run(tmp_path, "--rule-cases", "absent.jsonl")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "cannot read" in output
    assert "absent.jsonl" in output
    assert "Traceback" not in output
