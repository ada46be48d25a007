"""The protocol's page says what the program does."""

from __future__ import annotations

import importlib.util
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import pytest
from jsonschema import Draft202012Validator
from tourney_runner.games.registry import names
from tourney_runner.protocol.schemas import protocol_schema
from tourney_runner.results.records import FaultKind

if TYPE_CHECKING:
    from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "protocol.md").read_text()


@cache
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_the_page_takes_from_the_program_is_up_to_date() -> None:
    assert builder().build(PAGE) == PAGE, "run: python docs/build.py"


def test_every_kind_of_fault_is_explained() -> None:
    assert set(
        re.findall(
            r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", PAGE.partition("## Faults")[2], re.MULTILINE
        )
    ) == set(get_args(FaultKind))


def test_every_object_of_the_protocol_is_on_the_page() -> None:
    made = set(re.findall(r"<!-- made: fields (\w+) -->", PAGE))
    for name in protocol_schema()["$defs"]:
        assert re.sub("^(Tienlen|Speahx)(?=Move|Result)", "", name) in made


def test_every_link_inside_the_page_leads_somewhere() -> None:
    headings = {
        re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-")
        for line in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) <= headings


def test_every_link_to_another_page_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^#)]+)\)", PAGE):
        assert (DOCS / target).exists()


def test_every_field_has_a_meaning() -> None:
    assert not re.findall(r"^\| `\w+` \| [^|]+ \| *\|$", PAGE, re.MULTILINE)


def said(game: str) -> list[tuple[str, Any]]:
    """(direction, message) of a transcript."""
    text = PAGE.partition(f"<!-- made: transcript {game} -->\n```text\n")[2].partition("```")[0]
    return [(line[0], json.loads(line[2:])) for line in text.splitlines()]


@pytest.mark.parametrize("game", names())
def test_a_transcript_is_a_whole_deal(game: str) -> None:
    lines = said(game)
    kinds = [message.get("type", "answer") for _, message in lines]
    assert kinds[:3] == ["hello", "ready", "deal"]
    assert kinds[-1] == "result"
    assert kinds[3:-1] == ["move", "answer"] * ((len(kinds) - 4) // 2)
    answered = [message["id"] for mark, message in lines if mark == "<" and "id" in message]
    assert answered == [message["id"] for _, message in lines if message.get("type") == "move"]


@pytest.mark.parametrize("game", names())
def test_every_line_of_a_transcript_is_valid_against_the_schema(game: str) -> None:
    validator = Draft202012Validator(protocol_schema())
    for _, message in said(game):
        validator.validate(message)
