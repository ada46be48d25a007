"""Pages show neither control characters nor the folders of the machine that played."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tourney_runner.publish.provenance import published, short_paths
from tourney_runner.publish.publish_options import fault_text
from tourney_runner.results.records import FaultRecord

STAGED = f"/home/ann/.cache/tourney/bots/{'0' * 32}/bot"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb\tc\nd\u202e", "a\\x1b[2Jb\tc\nd\\u202e"),
        (f'File "{STAGED}/lib/bot.py", line 3', 'File "lib/bot.py", line 3'),
        (f"{STAGED}: gone", ": gone"),
        ("open('/home/ann/keys')", "open('~/keys')"),
        ("/usr/lib/python3/json.py", "/usr/lib/python3/json.py"),
    ],
)
def test_texts_are_shown_without_controls_and_folders(text: str, shown: str) -> None:
    assert published(text) == shown


def test_the_folders_of_interpreters_are_shortened() -> None:
    for prefix in (sys.prefix, sys.base_prefix):
        if not prefix.startswith("/usr"):
            text = published(f'File "{prefix}/lib/json.py"')
            assert str(Path(prefix).parent) not in text
            assert f"{Path(prefix).name}/lib/json.py" in text


def test_granted_paths_are_shown_by_their_last_part() -> None:
    granted = "network, devices /dev/dri, data /srv/private/weights, tools /opt/zig"
    assert short_paths(granted) == "network, devices /dev/dri, data weights, tools zig"


@pytest.mark.parametrize("logs", ["first_line", "all"])
def test_faults_are_published_that_way(logs: str) -> None:
    fault = FaultRecord(
        0, 0, "crash", 0, f"it ended in {STAGED}/x\x1b", "", "out\x9b", f"\x1b[2J{STAGED}/bot.py\n"
    )
    text = fault_text(fault, logs)
    assert not {"\x1b", "\x9b"} & set(text)
    assert "/home/" not in text
