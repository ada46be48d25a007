"""The export of every decision, for learning from stored deals."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tourney_runner.cli.app import app
from tourney_runner.games.registry import game
from tourney_runner.play.match import dealt
from tourney_runner.play.play_settings import PlaySettings
from tourney_runner.publish.export import MOVE_FIELDS
from tourney_runner.results.store import FILE_NAME, Store
from typer.testing import CliRunner

FROZEN = Path(__file__).parents[1] / "data" / "results" / "0.1.0-9ef054c"
FOLDERS = ("rr-complete", "speahx-complete", "faults-substitute", "faults-forfeit")


def export(folder: Path, file: Path) -> str:
    done = CliRunner().invoke(app, ["export", str(folder), "--moves", str(file)])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("name", FOLDERS)
def test_the_moves_replay_to_the_stored_results(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(FROZEN / name, folder)
    file = tmp_path / "moves.jsonl"
    written = export(folder, file)
    with closing(Store(folder / FILE_NAME)) as store:
        settings = PlaySettings.of(store.about())
        records = [*store.records()]
        names = [entrant.name for entrant in store.about().entrants]
    assert f"the moves of {len(records)} deals" in written
    decisions: dict[int, list[dict[str, Any]]] = {}
    for line in file.read_text().splitlines():
        row = json.loads(line)
        assert [*row] == [*MOVE_FIELDS]
        decisions.setdefault(row["deal"], []).append(row)
    rules = game(settings.game)
    for number, record in list(enumerate(records, 1))[:12]:
        state = dealt(settings, record.key, record.start)
        rows = iter(decisions.get(number, ()))
        for code in record.moves.split():
            if code.startswith("!"):
                state.forfeit(int(code[1:]))
                continue
            row = next(rows)
            seat = state.current_player
            assert (row["seat"], row["bot"]) == (seat, names[record.seating[seat]])
            assert row["hands"] == [[*state.hand(one)] for one in range(state.players)]
            assert row["view"] == json.loads(msgspec.json.encode(state.observation(seat)))
            assert row["fallback"] == code.startswith("?")
            assert row["answer"] in row["legal"] or not row["legal_complete"]
            assert (row["place"], row["points"]) == (record.places[seat], record.points[seat])
            answer = msgspec.convert({"id": 1, **row["answer"]}, rules.answer)
            state.apply_action(state.read(answer))
        assert next(rows, None) is None
        assert state.places() == record.places


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_parquet_has_the_same_decisions(tmp_path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415

    folder = tmp_path / "cup"
    shutil.copytree(FROZEN / "rr-complete", folder)
    export(folder, tmp_path / "moves.jsonl")
    export(folder, tmp_path / "moves.parquet")
    rows = parquet.read_table(tmp_path / "moves.parquet").to_pylist()
    lines = [json.loads(line) for line in (tmp_path / "moves.jsonl").read_text().splitlines()]
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        for name in ("view", "answer"):
            row[name] = json.loads(row[name])
        row["legal"] = [json.loads(text) for text in row["legal"]]
        assert row == line


@pytest.mark.parametrize("file", ["moves.csv", "moves"])
def test_other_endings_are_refused(tmp_path: Path, file: str) -> None:
    shutil.copytree(FROZEN / "rr-complete", tmp_path / "cup")
    words = ["export", str(tmp_path / "cup"), "--moves", str(tmp_path / file)]
    done = CliRunner().invoke(app, words)
    assert "moves are written as .jsonl or .parquet" in str(done.exception or done.output)
    assert not (tmp_path / file).exists()
