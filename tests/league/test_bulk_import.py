"""A class's submissions at once: safe unpacking, and a word on every bot."""

from __future__ import annotations

import stat
import zipfile
from datetime import date
from typing import TYPE_CHECKING

import pytest
from tourney_runner.config import load_config
from tourney_runner.errors import UsageError
from tourney_runner.league import bulk_import
from tourney_runner.league.bulk_import import Imported, import_bots, unpack
from tourney_runner.league.league_setup import create_league

if TYPE_CHECKING:
    from pathlib import Path

BOT = """\
import json, sys
for line in filter(str.strip, sys.stdin):
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "legal": "canonical"}), flush=True)
    elif message["type"] == "move":
        print(json.dumps({"id": message["id"], **message["legal"][0]}), flush=True)
"""


def bot(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(BOT)
    (folder / "bot.yaml").write_text(
        f'name: "{name}"\ncommand: ["{{python}}", bot.py]\ngames: [tienlen]\n'
    )


def zipped(archive: Path, **files: str) -> Path:
    with zipfile.ZipFile(archive, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return archive


@pytest.mark.parametrize(
    "name", ["../out.txt", "/out.txt", "a/../../out.txt", "..\\out.txt", "C:/x"]
)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    archive = zipped(tmp_path / "bots.zip", **{name: "text"})
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(UsageError, match="out of the folder"):
        unpack(archive, inside)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bots.zip", "inside"]


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_special_files_are_refused(tmp_path: Path, kind: int) -> None:
    member = zipfile.ZipInfo("bot/link")
    member.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "bots.zip", "w") as opened:
        opened.writestr(member, "/etc/passwd")
    (tmp_path / "inside").mkdir()
    with pytest.raises(UsageError, match="a link or a special file"):
        unpack(tmp_path / "bots.zip", tmp_path / "inside")


def test_set_uid_does_not_survive(tmp_path: Path) -> None:
    member = zipfile.ZipInfo("run")
    member.external_attr = (stat.S_IFREG | 0o6755) << 16
    with zipfile.ZipFile(tmp_path / "bots.zip", "w") as opened:
        opened.writestr(member, "#!/bin/sh\n")
    (tmp_path / "inside").mkdir()
    unpack(tmp_path / "bots.zip", tmp_path / "inside")
    assert stat.S_IMODE((tmp_path / "inside/run").stat().st_mode) == 0o755


def test_what_grows_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_import, "MOST_BYTES", 1000)
    archive = tmp_path / "bots.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("zeros", bytes(5000))
    (tmp_path / "inside").mkdir()
    with pytest.raises(UsageError, match="larger than"):
        unpack(archive, tmp_path / "inside")


def test_every_submission_gets_a_word_and_the_good_ones_are_entered(tmp_path: Path) -> None:
    league = create_league(tmp_path / "cup", game="tienlen", name=None)
    source = tmp_path / "hand-ins"
    bot(source / "Nguyễn_123_assignsubmission" / "my bot", "Nguyễn")
    (source / "empty").mkdir()
    (source / "notes.txt").write_text("not an archive")
    inner = tmp_path / "zoe"
    bot(inner, "Zoë 漢字")
    with zipfile.ZipFile(source / "zoe.zip", "w") as opened:
        for path in inner.iterdir():
            opened.write(path, f"zoe/{path.name}")
    found = list(import_bots(source, league, replace=False, today=date(2026, 12, 1)))
    by_source = {outcome.source: outcome for outcome in found}
    assert by_source["Nguyễn_123_assignsubmission"] == Imported(
        "Nguyễn_123_assignsubmission", "Nguyễn", ""
    )
    assert by_source["zoe.zip"].name == "Zoë 漢字"
    assert by_source["empty"].why == "there is no bot.yaml in it"
    assert "expected a folder or a ZIP file" in by_source["notes.txt"].why
    entered = load_config(league, skip_broken=True, growing=True).entrants
    assert [entrant.name for entrant in entered] == ["Nguyễn", "Zoë 漢字"]
