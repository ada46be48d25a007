from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tourney_runner.config import load_config
from tourney_runner.config.validation import Problems
from tourney_runner.config.yaml_document import load_document
from tourney_runner.errors import ConfigError

CASES = yaml.safe_load((Path(__file__).parent / "bad.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["what"] for case in CASES])
def test_every_problem_is_said_with_its_position(case: dict[str, Any], folder: Path) -> None:
    (folder / "c.yaml").write_text(case["text"])
    with pytest.raises(ConfigError) as caught:
        load_config(Path("c.yaml"))
    assert caught.value.problems == case["lines"]
    assert caught.value.exit_status == 2


GOOD = b"game: tienlen\nbots: [bots/a, bots/b, bots/c, bots/d]\n"


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        pytest.param(
            GOOD + b"name: caf\xe9\n", ["c.yaml:3:10: byte 0xe9 is not UTF-8 text"], id="latin-1"
        ),
        pytest.param(
            GOOD.decode().encode("utf-16"),
            ["c.yaml:1:1: the file is UTF-16, expected UTF-8: save it with that encoding"],
            id="UTF-16",
        ),
        pytest.param(
            GOOD + b"name: a\0b\x07\n",
            [
                f"c.yaml:3:{column}: the character U+{code} is not allowed in YAML: remove it, or "
                "write it as an escape in double quotes"
                for column, code in ((8, "0000"), (10, "0007"))
            ],
            id="control characters",
        ),
        pytest.param(
            b"[" * 200, ["c.yaml:1:41: nested more than 40 levels deep"], id="deep nesting"
        ),
    ],
)
def test_bytes_that_are_no_configuration(data: bytes, lines: list[str], folder: Path) -> None:
    (folder / "c.yaml").write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        load_config(Path("c.yaml"))
    assert caught.value.problems == lines


def test_a_hundred_megabytes_are_not_read(folder: Path) -> None:
    with (folder / "c.yaml").open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    with pytest.raises(
        ConfigError, match=r"^c.yaml:1:1: the file is larger than 1 MiB, expected a"
    ):
        load_config(Path("c.yaml"))


@pytest.mark.parametrize(
    "entry", ["[*{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}]", "{{k: *{0}, j: *{0}}}"]
)
def test_aliases_do_not_blow_up(entry: str, folder: Path) -> None:
    lines = ["a0: &a0 lol"]
    lines += [f"a{level}: &a{level} {entry.format(f'a{level - 1}')}" for level in range(1, 36)]
    (folder / "c.yaml").write_text("\n".join(lines))
    with pytest.raises(ConfigError, match="the aliases of the file stand for more than 20000"):
        load_config(Path("c.yaml"))


def test_a_field_of_thousands_of_bots_is_read(tmp_path: Path) -> None:
    bots = [{"bot": "bots/a", "name": f"a {number}", "trusted": True} for number in range(5000)]
    (tmp_path / "c.yaml").write_text(json.dumps({"bots": bots}))
    problems = Problems("c.yaml")
    document = load_document(tmp_path / "c.yaml", "c.yaml", problems)
    assert document is not None
    assert not problems
    assert document.data == {"bots": bots}


@pytest.mark.usefixtures("folder")
def test_a_folder_is_no_configuration() -> None:
    with pytest.raises(ConfigError, match=r"^bots:1:1: this is a folder, expected a YAML file$"):
        load_config(Path("bots"))


def test_a_file_that_is_not_there_gets_the_nearest_name(folder: Path) -> None:
    (folder / "friday.yaml").write_bytes(GOOD)
    with pytest.raises(ConfigError) as caught:
        load_config(Path("firday.yaml"))
    [line] = caught.value.problems
    assert line == (
        "firday.yaml:1:1: there is no such file, expected a tournament's configuration; did you "
        "mean 'friday.yaml'?"
    )


@pytest.mark.parametrize("name", ["x" * 5000, "a\nb", "nowhere/c.yaml"])
@pytest.mark.usefixtures("folder")
def test_strange_file_names_are_one_line(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(Path(name))
    assert len(caught.value.problems) == 1
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 700


def test_a_path_from_where_the_user_is_gets_the_one_from_the_file(folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "c.yaml").write_text("game: tienlen\nbots: [bots/a]\n")
    with pytest.raises(ConfigError, match=r"did you mean '\.\./bots/a'\?"):
        load_config(Path("deep/c.yaml"))
