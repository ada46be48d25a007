from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tourney_runner.process.launcher import Program, Rights
from tourney_runner.process.sandbox.visible_files import View, view_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("RUSTUP_HOME", raising=False)
    return home


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    folder = tmp_path / "cache" / "bot"
    folder.mkdir(parents=True)
    return folder


def executable(path: Path, content: str = "\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)
    return path


def link(place: Path, target: Path | str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    return place


def seen(command: Path | str, bot: Path, rights: Rights | None = None) -> View:
    return view_of(Program((str(command),), str(bot), rights=rights or Rights()))


def test_a_program_of_the_system_needs_nothing_more(bot: Path, home: Path) -> None:
    view = seen("/usr/bin/env", bot)
    assert (view.trees, view.links, view.env) == ((), (), ())
    assert home is not None


def test_a_program_in_the_bots_folder_needs_nothing_more(bot: Path, home: Path) -> None:
    assert seen(executable(bot / "bin/bot"), bot).trees == ()
    assert home is not None


def test_an_installation_is_shown_whole(bot: Path, home: Path) -> None:
    python = executable(home / ".pyenv/versions/3.11/bin/python3.11")
    (home / ".pyenv/versions/3.11/lib").mkdir()
    assert seen(python, bot).trees == (str(home / ".pyenv/versions/3.11"),)


def test_links_are_shown_as_links(bot: Path, home: Path) -> None:
    executable(home / "tool-1.2/bin/tool")
    (home / "tool-1.2/lib").mkdir()
    current = link(home / "current", "tool-1.2")
    place = link(home / "bin/tool", home / "current/bin/tool")
    view = seen(place, bot)
    assert view.trees == (str(home / "tool-1.2"),)
    assert set(view.links) == {
        (str(current), "tool-1.2"),
        (str(place), str(home / "current/bin/tool")),
    }


def test_a_virtual_environment_is_shown_with_what_it_was_made_from(bot: Path, home: Path) -> None:
    base = home / "python"
    executable(base / "bin/python3")
    (base / "lib").mkdir()
    environment = home / "project/.venv"
    place = link(environment / "bin/python", base / "bin/python3")
    (environment / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    view = seen(place, bot)
    assert set(view.trees) == {str(environment), str(base)}
    assert view.links == ()


def test_a_virtual_environment_of_copies_finds_its_base(bot: Path, home: Path) -> None:
    base = home / "python"
    executable(base / "bin/python3")
    (base / "lib").mkdir()
    environment = home / ".venv"
    python = executable(environment / "bin/python")
    (environment / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    assert set(seen(python, bot).trees) == {str(environment), str(base)}


@pytest.mark.parametrize("place", ["bin/tool", ".local/bin/tool", "tool", "project/bin/tool"])
def test_private_folders_are_not_shown_for_a_program_in_them(
    place: str, bot: Path, home: Path
) -> None:
    tool = executable(home / place)
    for folder in (home, home / ".local", home / "project"):
        (folder / "lib").mkdir(parents=True, exist_ok=True)
    (home / "project/.git").mkdir()
    assert seen(tool, bot).trees == (str(tool),)


def test_an_installation_with_the_bots_in_it_is_not_shown(tmp_path: Path, home: Path) -> None:
    prefix = tmp_path / "tourney"
    tool = executable(prefix / "bin/python")
    (prefix / "lib").mkdir()
    bot = prefix / "bots/mine"
    bot.mkdir(parents=True)
    assert seen(tool, bot).trees == (str(tool),)
    assert home is not None


def test_a_script_is_shown_with_its_interpreter(bot: Path, home: Path) -> None:
    ruby = executable(home / "ruby/bin/ruby")
    (home / "ruby/lib").mkdir()
    script = executable(bot / "bot.rb", f"#!{ruby} -w\nputs 1\n")
    assert seen(script, bot).trees == (str(home / "ruby"),)


def test_rustup_finds_its_compilers(bot: Path, home: Path) -> None:
    executable(home / ".cargo/bin/rustup")
    rustc = link(home / ".cargo/bin/rustc", "rustup")
    (home / ".cargo/credentials.toml").write_text("secret")
    (home / ".rustup").mkdir()
    view = seen(rustc, bot)
    assert set(view.trees) == {str(home / ".rustup"), str(home / ".cargo/bin")}
    assert dict(view.env)["RUSTUP_HOME"] == str(home / ".rustup")


def test_granted_data_is_shown(bot: Path, home: Path) -> None:
    data = home / "weights"
    data.mkdir()
    assert seen("/usr/bin/env", bot, Rights(data=(str(data),))).trees == (str(data),)


@pytest.mark.parametrize("missing", ["folder", "command", "data"])
def test_what_is_missing_is_named(missing: str, bot: Path, home: Path) -> None:
    nowhere = str(home / "nowhere")
    command = nowhere if missing == "command" else "/usr/bin/env"
    rights = Rights(data=(nowhere,)) if missing == "data" else Rights()
    folder = nowhere if missing == "folder" else str(bot)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        view_of(Program((command,), folder, rights=rights))


@pytest.mark.parametrize("folder", ["/", "/home", "/tmp", "~"])
def test_a_folder_that_holds_more_than_a_bot_is_refused(folder: str, home: Path) -> None:
    with pytest.raises(PermissionError, match="nothing but the bot"):
        seen("/usr/bin/env", home if folder == "~" else Path(folder))


def test_links_in_a_circle_are_refused(bot: Path, home: Path) -> None:
    link(home / "a", "b")
    link(home / "b", "a")
    with pytest.raises(FileNotFoundError, match="circle"):
        seen(home / "a", bot)


def test_the_running_interpreter_can_be_shown(bot: Path) -> None:
    view = seen(sys.executable, bot)
    assert str(Path.home()) not in view.trees
