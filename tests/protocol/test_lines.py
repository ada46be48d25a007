"""Tests of reading the lines of a bot, whatever they contain."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tourney_runner.games.registry import game as find_game
from tourney_runner.protocol.lines import (
    AnswerReader,
    Noise,
    WrongShape,
    encode,
    quoted,
    read_ready,
)
from tourney_runner.protocol.messages import Deal, Ready

ID = 17
READERS = {name: AnswerReader(find_game(name).answer) for name in ("tienlen", "speahx")}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.binary())
def test_no_bytes_can_hurt_the_reader(line: bytes) -> None:
    for reader in READERS.values():
        assert reader.read(line, ID) is not None
    assert read_ready(line) is not None


@given(st.dictionaries(st.sampled_from(["id", "play", "pass", "suit", "debug", "type"]), JSON))
def test_no_object_can_hurt_the_reader(message: dict[str, Any]) -> None:
    line = json.dumps(message).encode()
    for reader in READERS.values():
        meaning = reader.read(line, ID)
        if message.get("id") is not ID and message.get("id") not in (float(ID), str(ID)):
            assert isinstance(meaning, Noise)
    ready = read_ready(line)
    if message.get("type") != "ready":
        assert isinstance(ready, Noise)


@given(st.dictionaries(st.text(), JSON))
def test_unknown_fields_are_ignored(extra: dict[str, Any]) -> None:
    message = {**extra, "id": ID, "pass": True, "play": None, "debug": None, "suit": None}
    message["chance"] = False
    line = json.dumps(message, allow_nan=True)
    if "NaN" in line or "Infinity" in line or "\\ud" in line:
        return
    for reader in READERS.values():
        answer = reader.read(line.encode(), ID)
        assert answer.id == ID  # type: ignore[union-attr]
        assert answer.pass_  # type: ignore[union-attr]


# (line, what it is: an answer, stale, stray or a wrong shape)
LINES: list[tuple[bytes, str]] = [
    (b'{"id":17,"pass":true}\n', "answer"),
    (b' {"id" : 17 , "pass" : true } \r\n', "answer"),
    (b'\xef\xbb\xbf{"id":17,"pass":true}', "answer"),
    (b"\xef\xbb\xbf" * 5000 + b'{"id":17,"pass":true}', "answer"),
    (b'{"id":1,"id":17,"pass":true}', "answer"),
    (b'{"id":17,"pass":true,"x":1e999}', "answer"),
    (b'{"id":17,"pass":true,"x":' + b"9" * 9999 + b"}", "answer"),
    (b'{"id":17}', "answer"),
    (b'{"id":18,"pass":true}', "stale"),
    (b'{"id":-17,"pass":true}', "stale"),
    (b'{"id":18,"pass":"yes"}', "stale"),
    (b'{"id":1' + b"0" * 400 + b"}", "stale"),
    (b'{"id":17,"id":1}', "stale"),
    (b'{"id":17,"pass":"yes"}', "wrong"),
    (b'{"id":17.0,"pass":true}', "answer"),
    (b'{"id":1.7e1,"pass":true}', "answer"),
    (b'{"id":"17","pass":true}', "wrong"),
    (b'{"id":17,"pass":NaN}', "wrong"),
    (b'{"id":17,"pass":true,"x":-Infinity}', "wrong"),
    (b'{"id":17,"pass":true,"debug":"\\ud800"}', "wrong"),
    (b'{"id":17,"play":["\\udfff\\ud800"]}', "wrong"),
    (b'{"id":17,"play":[3]}', "wrong"),
    (b'{"id":17,"play":{"0":"3S"}}', "wrong"),
    (b'{"id":true,"pass":true}', "stray"),
    (b'{"id":null,"pass":true}', "stray"),
    (b'{"id":17.5,"pass":true}', "stray"),
    (b'{"id":[17],"pass":true}', "stray"),
    (b'{"id":"18","pass":true}', "stray"),
    (b'{"ID":17,"pass":true}', "stray"),
    (b'{"id":' + b"9" * 9999 + b"}", "stray"),
    (b"{}", "stray"),
    (b"[]", "stray"),
    (b"null", "stray"),
    (b"17", "stray"),
    (b'"id"', "stray"),
    (b"[17, true]", "stray"),
    (b"I pass", "stray"),
    (b"{", "stray"),
    (b"{'id':17,'pass':true}", "stray"),
    (b'{"id":17,"pass":true', "stray"),
    (b'{"id":17,"pass":true}}', "stray"),
    (b'{"id":17,"pass":true}{"id":17,"pass":true}', "stray"),
    (b'{"id":17,"pass":true}\x00', "stray"),
    (b"\x00\xff\xfe", "stray"),
    (b'{"id":17,"play":["\xff"]}', "stray"),
    ('{"id":17,"pass":true}'.encode("utf-16"), "stray"),
    ('{"id":17,"pass":true}'.encode("utf-32-le"), "stray"),
    (b'{"id":17,"x":' + b"[" * 10**5 + b"]" * 10**5 + b"}", "stray"),
    (b'{"x":' * 10**5 + b"1" + b"}" * 10**5, "stray"),
    (b"[" * 10**6, "stray"),
]


@pytest.mark.parametrize(("line", "meaning"), LINES, ids=[str(line[:24]) for line, _ in LINES])
@pytest.mark.parametrize("game", READERS)
def test_a_line_means_what_it_says(game: str, line: bytes, meaning: str) -> None:
    found = READERS[game].read(line, ID)
    match found:
        case Noise(kind=kind):
            assert kind == meaning
        case WrongShape():
            assert meaning == "wrong"
        case _:
            assert meaning == "answer"
            assert found.id == ID


@pytest.mark.parametrize("depth", range(1, 2000, 50))
def test_no_depth_of_nesting_can_hurt_the_reader(depth: int) -> None:
    for line in (
        b'{"id":' + b"[" * depth + b"]" * depth + b"}",
        b'{"id":17,"play":' + b"[" * depth + b"]" * depth + b"}",
        b'{"type":"ready","name":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}",
    ):
        assert READERS["tienlen"].read(line, ID) is not None
        assert read_ready(line) is not None


@pytest.mark.parametrize(
    ("line", "ready"),
    [
        (b'{"type":"ready"}', Ready()),
        (b'{"type":"ready","name":"a","version":"2","legal":"all"}', Ready("a", "2", "all")),
        (b'{"x":[],"type":"ready","legal":"canonical"}', Ready(legal="canonical")),
        (b'\xef\xbb\xbf{"type":"ready"}\r\n', Ready()),
    ],
)
def test_ready_is_read(line: bytes, ready: Ready) -> None:
    assert read_ready(line) == ready


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"ready","legal":"some"}',
        b'{"type":"ready","legal":null}',
        b'{"type":"ready","name":5}',
        b'{"type":"ready","x":NaN}',
    ],
)
def test_ready_of_a_wrong_shape_is_told(line: bytes) -> None:
    assert isinstance(read_ready(line), WrongShape)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b'{"name":"a"}',
        b'{"type":"hello"}',
        b'{"id":1,"pass":true}',
        b"[]",
        b"hi",
        b'{"type":["ready"]}',
    ],
)
def test_what_is_no_ready_is_noise(line: bytes) -> None:
    assert isinstance(read_ready(line), Noise)


def test_a_message_is_one_line_whatever_is_in_it() -> None:
    deal = Deal(0, 2, ("3S",), 0, 5, names=("line\nbreak", '\u2028\u0000"', "\N{SNOWMAN}"))
    line = encode(deal)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line)["names"] == list(deal.names or ())


@given(st.binary(max_size=200), st.integers(min_value=1, max_value=50))
def test_quotes_are_text_of_a_readable_length(line: bytes, length: int) -> None:
    text = quoted(line, length)
    assert len(text) <= length + len("... (200 bytes)")
    text.encode()
