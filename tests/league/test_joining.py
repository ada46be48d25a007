"""Late entrants and new versions, in real runs."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tourney_runner.results.store import Store
from tourney_runner.verify.verification import Wanted, verify
from whole_program import until

if TYPE_CHECKING:
    from whole_program import Arena


def _deals(folder: Path) -> list[Any]:
    store = Store(folder / "results.sqlite")
    deals = list(store.records())
    store.close()
    return deals


def _change(bot: dict[str, Any]) -> None:
    path = Path(bot["cwd"]) / "bot.py"
    path.write_text(path.read_text("utf-8") + "\n# another version\n", "utf-8")


def test_a_bot_that_joins_late_plays_what_it_needs_also_after_a_kill(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three")]
    config = arena.configure(bots, schedule={"rounds": 3})
    arena.run("run", config, "--out", "out", "--jobs", 1)
    old = _deals(arena.path / "out")
    shutil.copytree(arena.path / "out", arena.path / "cut")
    bots.insert(0, arena.bot("newcomer"))  # wherever it stands, it is the last to have joined
    config = arena.configure(bots, schedule={"rounds": 3})
    told = arena.run("run", config, "--out", "out", "--jobs", 2).stderr
    assert "schedule: 3 rounds and 3 in which late entrants catch up, 15 matches" in told
    first = arena.files()
    deals = _deals(arena.path / "out")
    assert deals[: len(old)] == old
    assert all(3 in record.seating for record in deals[len(old) :])
    rows = arena.rows()
    assert rows["newcomer"]["deals"] == 12 == 2 * len(old) // 3
    assert {name: row["deals"] for name, row in rows.items()} != dict.fromkeys(rows, 12)

    assert verify(arena.path / "out", Wanted(sample=0)).passed

    process = arena.start("run", config, "--out", "cut", "--jobs", 1)
    until(lambda: len(_deals(arena.path / "cut")) > len(old) or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    arena.end(process, status=None)
    until(lambda: not arena.workers())
    arena.run("run", config, "--out", "cut", "--jobs", 1)
    assert arena.files("cut") == first


def test_a_folder_joins_by_a_word_and_a_changed_one_as_a_new_version(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three")]
    config = arena.configure(bots[:2])
    arena.run("run", config, "--out", "out", "--jobs", 1)
    folder = Path(bots[2]["cwd"])
    (folder / "bot.yaml").write_text("name: three\ncommand: ['{python}', bot.py]\n", "utf-8")
    words = ("run", config, "--out", "out", "--jobs", 1, "--no-sandbox")
    arena.run(*words, "--add", folder)
    arena.run(*words)  # it stays, and joins once
    assert set(arena.rows()) == {"one", "two", "three"}
    old = _deals(arena.path / "out")
    before = arena.rows()

    _change(bots[2])
    arena.run(*words, "--add", folder)
    rows = arena.rows()
    assert set(rows) == {"one", "two", "three", "three v2"}
    assert rows["three"]["withdrawn"] == "replaced by three v2"
    assert rows["three"]["deals"] == before["three"]["deals"]
    assert _deals(arena.path / "out")[: len(old)] == old

    _change(bots[0])
    ended = arena.run(*words, status=2)
    assert "the bot 'one' has changed: bot.py changed" in ended.stderr
    assert f"{config} --out out --jobs 1 --no-sandbox --new-versions" in ended.stderr
    arena.run(*words, "--new-versions")
    assert set(arena.rows()) == {"one", "two", "three", "three v2", "one v2"}
    assert verify(arena.path / "out", Wanted(sample=0)).passed


def test_a_ladder_goes_on_with_who_joins(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three", "four")]
    keys = {"schedule": {"format": "ladder", "rounds": 3, "tables": 1}}
    arena.run("run", arena.configure(bots[:3], **keys), "--out", "out", "--jobs", 1)
    old = _deals(arena.path / "out")
    arena.run("run", arena.configure(bots, **keys), "--out", "out", "--jobs", 1)
    deals = _deals(arena.path / "out")
    assert deals[: len(old)] == old
    assert all(3 in record.seating for record in deals[len(old) : len(old) + 2])
    assert verify(arena.path / "out", Wanted(sample=0)).passed


def test_a_bot_that_is_no_longer_entered_must_be_withdrawn_first(arena: Arena) -> None:
    bots = [arena.bot(name) for name in ("one", "two", "three")]
    arena.run("run", arena.configure(bots), "--out", "out", "--jobs", 1)
    config = arena.configure(bots[:2], schedule={"rounds": 2})
    ended = arena.run("run", config, "--out", "out", status=2)
    assert "the bot 'three' is no longer there" in ended.stderr
    assert "tourney withdraw" in ended.stderr
