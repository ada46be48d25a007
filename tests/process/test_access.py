"""A bot selects its program among the organiser's, and sees nothing that it was not shown."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tourney_runner.process.access import choose_program, view_of, visible_file
from tourney_runner.process.executables import UnrunnableError, read_header, script_interpreter
from tourney_runner.process.launcher import Program, Rights
from tourney_runner.process.program_finder import NotGrantedError, ProgramError, tools_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.process.visible_files import View

MANAGERS = (
    *("UV_PYTHON_INSTALL_DIR", "UV_TOOL_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "PYENV_ROOT"),
    *("CONDA_PREFIX", "CONDA_ROOT", "CONDA_EXE", "MAMBA_ROOT_PREFIX", "NVM_DIR", "RUSTUP_HOME"),
    *("CARGO_HOME", "ASDF_DATA_DIR", "ASDF_DIR", "MISE_DATA_DIR", "SDKMAN_DIR"),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The organiser's home, with nothing installed and nothing but the system on the path."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for name in MANAGERS:
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def bot(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "cache" / "bot"
    folder.mkdir(parents=True)
    assert home.is_dir()
    return folder


def elf(interpreter: bytes | None = None) -> bytes:
    """An ELF header of this machine's kind that names a loader; the rest is missing."""
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    if interpreter is None:
        return header + bytes(56)
    name = interpreter + b"\0"
    return header + struct.pack("<IIQQQQQQ", 3, 4, 120, 0, 0, len(name), len(name), 1) + name


def executable(path: Path, content: bytes | str = elf()) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(0o755)
    return path


def link(place: Path, target: Path | str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    return place


def seen(command: Path | str, bot: Path, rights: Rights | None = None) -> View:
    return view_of(Program((str(command),), str(bot), rights=rights or Rights()))


def refused(word: Path | str, bot: Path, **granted: tuple[str, ...]) -> str:
    """Why a bot may not use a program, at staging; the sandbox would not show it, either."""
    with pytest.raises(NotGrantedError) as caught:
        choose_program(str(word), str(bot), **granted)
    if str(word).startswith("/"):
        with pytest.raises(PermissionError, match="tools:"):
            seen(word, bot)
    return str(caught.value)


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a program, which fails the test if anything looks at it."""
    folder = tmp_path / "secret"
    executable(folder / "bin/tool")
    (folder / "lib").mkdir()

    def watched(name: str) -> None:
        real: Callable[..., Any] = getattr(os, name)

        def call(path: Any, *words: Any, **named: Any) -> Any:
            assert not str(path).startswith(f"{folder}"), f"{name} of {path}"
            return real(path, *words, **named)

        monkeypatch.setattr(os, name, call)

    for name in ("stat", "lstat", "open", "access", "readlink", "scandir", "listdir"):
        watched(name)
    return folder


# What is shown


def test_a_program_of_the_system_needs_nothing_more(bot: Path) -> None:
    view = seen("/usr/bin/env", bot)
    assert (view.trees, view.links, view.env, view.search) == ((), (), (), ())


def test_a_program_in_the_bots_folder_needs_nothing_more(bot: Path) -> None:
    assert seen(executable(bot / "bin/bot"), bot).trees == ()


def test_the_running_interpreter_can_be_shown(bot: Path) -> None:
    view = seen(sys.executable, bot)
    assert str(Path.home()) not in view.trees


def test_a_program_on_the_search_path_is_shown_alone(
    bot: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = executable(home / "bin/tool")
    (home / "lib").mkdir()
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin")
    assert choose_program("tool", str(bot)) == str(tool)
    assert seen(tool, bot).trees == (str(tool),)


def test_a_link_on_the_search_path_is_the_organisers(
    bot: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = executable(home / "tool-1.2/bin/tool")
    current = link(home / "current", "tool-1.2")
    place = link(home / "bin/tool", home / "current/bin/tool")
    monkeypatch.setenv("PATH", f"{home}/bin")
    view = seen(place, bot)
    assert view.trees == (str(tool),)
    assert set(view.links) == {
        (str(current), "tool-1.2"),
        (str(place), str(home / "current/bin/tool")),
    }


@pytest.mark.parametrize("place", ["bin/tool", ".local/bin/tool", "project/bin/tool"])
def test_private_folders_are_not_shown_for_a_program_in_them(
    place: str, bot: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = executable(home / place)
    for folder in (home, home / ".local", home / "project"):
        executable(folder / "lib/python3.11/os.py")
    (home / "project/.git").mkdir()
    monkeypatch.setenv("PATH", str(tool.parent))
    assert seen(tool, bot).trees == (str(tool),)


def test_an_installation_with_the_bots_in_it_is_not_shown(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = tmp_path / "tourney"
    tool = executable(prefix / "bin/python")
    executable(prefix / "lib/python3.11/os.py")
    bot = prefix / "bots/mine"
    bot.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{prefix}/bin")
    assert seen(tool, bot).trees == (str(tool),)
    assert home.is_dir()


def test_granted_data_is_shown(bot: Path, home: Path) -> None:
    data = home / "weights"
    data.mkdir()
    assert seen("/usr/bin/env", bot, Rights(data=(str(data),))).trees == (str(data),)


@pytest.mark.parametrize("missing", ["folder", "command", "data", "tools"])
def test_what_is_missing_is_named(missing: str, bot: Path) -> None:
    nowhere = str(bot / "nowhere")
    command = nowhere if missing == "command" else "/usr/bin/env"
    granted = {missing: (nowhere,)} if missing in ("data", "tools") else {}
    folder = nowhere if missing == "folder" else str(bot)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        view_of(Program((command,), folder, rights=Rights(**granted)))


@pytest.mark.parametrize("folder", ["/", "/home", "/tmp", "~"])
def test_a_folder_that_holds_more_than_a_bot_is_refused(folder: str, home: Path) -> None:
    with pytest.raises(PermissionError, match="nothing but the bot"):
        seen("/usr/bin/env", home if folder == "~" else Path(folder))


# Installations


LAYOUTS = {
    # name: (variable that may name the root, root, program, another file of the installation)
    "uv": ("", ".local/share/uv/python", "cpython-3.12/bin/python3.12", "cpython-3.12/lib/x"),
    "uv elsewhere": ("UV_PYTHON_INSTALL_DIR", "pythons", "cp-3.12/bin/python3", "cp-3.12/lib/x"),
    "uv tool": ("", ".local/share/uv/tools", "ruff/bin/ruff", "ruff/lib/x"),
    "pyenv": ("", ".pyenv", "versions/3.12.1/bin/python", "versions/3.12.1/lib/x"),
    "pyenv elsewhere": ("PYENV_ROOT", "py", "versions/3.12.1/bin/python", "versions/3.12.1/lib/x"),
    "conda": ("", "miniconda3", "envs/bots/bin/python", "envs/bots/lib/x"),
    "conda base": ("", "miniforge3", "bin/python", "conda-meta/history"),
    "nvm": ("", ".nvm", "versions/node/v22.1.0/bin/node", "versions/node/v22.1.0/lib/x"),
    "rustup": ("", ".rustup", "toolchains/stable/bin/rustc", "toolchains/stable/lib/x"),
    "asdf": ("", ".asdf", "installs/erlang/27/bin/erl", "installs/erlang/27/lib/x"),
    "mise": ("", ".local/share/mise", "installs/node/22/bin/node", "installs/node/22/lib/x"),
    "sdkman": ("", ".sdkman", "candidates/java/21/bin/java", "candidates/java/21/lib/x"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_installations_of_version_managers_are_shown_whole(
    layout: str, bot: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable, root, program, other = LAYOUTS[layout]
    if variable:
        monkeypatch.setenv(variable, str(home / root))
    executable(home / root / other)
    executable(home / root / "private/key")
    tool = executable(home / root / program)
    (tree,) = seen(tool, bot).trees
    assert (home / root / other).is_relative_to(tree)
    assert layout == "conda base" or not (home / root / "private/key").is_relative_to(tree)
    assert str(Path(tree, "bin")) in seen(tool, bot).search


def test_an_installation_behind_links_is_found(bot: Path, home: Path, tmp_path: Path) -> None:
    executable(tmp_path / "big/python/bin/python3")
    link(home / ".pyenv/versions/3.12", tmp_path / "big/python")
    named = home / ".pyenv/versions/3.12/bin/python3"
    assert seen(named, bot).trees == (str(tmp_path / "big/python"),)


KINDS = {
    "python": ("python3", ["lib/python3.12/os.py"]),
    "node": ("node", ["include/node/node_version.h"]),
    "java": ("java", ["release", "lib/modules"]),
    "go": ("go", ["VERSION", "src/runtime/x", "pkg/tool/x"]),
    "rust": ("rustc", ["lib/rustlib/x"]),
    "conda": ("tool", ["conda-meta/history"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_known_kind_on_the_search_path_is_shown_whole(
    kind: str, bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, marks = KINDS[kind]
    root = tmp_path / "tools/it-1.0"
    tool = executable(root / "bin" / name)
    for mark in marks:
        executable(root / mark)
    monkeypatch.setenv("PATH", f"{root}/bin:/usr/bin")
    assert seen(choose_program(name, str(bot)), bot).trees == (str(root),)
    assert choose_program(str(tool), str(bot)) == str(tool)
    monkeypatch.setenv("PATH", "/usr/bin")
    assert f"tools: [{root}]" in refused(tool, bot)


def test_a_virtual_environment_is_shown_with_what_it_was_made_from(
    bot: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = home / ".pyenv/versions/3.12"
    executable(base / "bin/python3")
    environment = home / "project/.venv"
    place = link(environment / "bin/python", base / "bin/python3")
    (environment / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    monkeypatch.setenv("PATH", f"{environment}/bin")
    view = seen(place, bot)
    assert set(view.trees) == {str(environment), str(base)}
    assert view.links == ()


@pytest.mark.parametrize("how", ["linked", "copied"])
def test_a_bots_own_environment_selects_an_installation(how: str, bot: Path, home: Path) -> None:
    base = home / ".pyenv/versions/3.12"
    executable(base / "bin/python3")
    python = bot / ".venv/bin/python"
    if how == "copied":
        executable(python)
    else:
        link(python, base / "bin/python3")
    (bot / ".venv/pyvenv.cfg").write_text(f"home = {base / 'bin'}\n")
    assert seen(python, bot).trees == (str(base),)


def test_rustup_finds_its_compilers(bot: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(home / ".cargo/bin/rustup")
    rustc = link(home / ".cargo/bin/rustc", "rustup")
    (home / ".cargo/credentials.toml").write_text("secret")
    (home / ".rustup").mkdir()
    monkeypatch.setenv("PATH", f"{home}/.cargo/bin:/usr/bin")
    view = seen(rustc, bot)
    assert set(view.trees) == {str(home / ".rustup"), str(home / ".cargo/bin")}
    assert dict(view.env)["RUSTUP_HOME"] == str(home / ".rustup")
    assert view.search == (str(home / ".cargo/bin"),)


def test_tools_are_found_by_name_before_the_search_path(bot: Path, tmp_path: Path) -> None:
    tool = executable(tmp_path / "tools/sdk/bin/env")
    granted = str(tmp_path / "tools/sdk")
    assert choose_program("env", str(bot)) == "/usr/bin/env"
    assert choose_program("env", str(bot), tools=(granted,)) == str(tool)
    view = seen(tool, bot, Rights(tools=(granted,)))
    assert view.trees == (granted,)
    assert view.search[0] == f"{granted}/bin"


# What a bot cannot do


def test_an_absolute_path_is_not_even_looked_at(bot: Path, secret: Path) -> None:
    assert f"tools: [{secret}]" in refused(secret / "bin/tool", bot)
    assert f"tools: [{secret}]" in refused(secret / "bin/no-such-tool", bot)


@pytest.mark.parametrize("way", ["/usr/../{}", "//{}", "/./{}", "/usr/bin/../../{}", "{}/."])
def test_another_spelling_is_the_same_path(way: str, bot: Path, secret: Path) -> None:
    inside = str(secret / "bin/tool").lstrip("/")
    refused(way.format(inside) if way[0] == "/" else f"/{way.format(inside)}", bot)


def test_links_in_the_bots_folder_lead_nowhere_else(bot: Path, secret: Path) -> None:
    link(bot / "run", secret / "bin/tool")
    link(bot / "here/there", bot / "run")
    link(bot / "folder", secret)
    for word in ("./run", "here/there", "folder/bin/tool", "run"):
        assert f"tools: [{secret}]" in refused(word, bot)


@pytest.mark.parametrize("word", ["../secret/bin/tool", "x/../../secret/bin/tool", ".."])
def test_relative_paths_stay_in_the_folder(word: str, bot: Path) -> None:
    with pytest.raises(ProgramError, match="leads out of the bot's folder"):
        choose_program(word, str(bot))


@pytest.mark.parametrize("kind", ["script", "elf", "relative"])
def test_no_interpreter_leads_out(kind: str, bot: Path, secret: Path) -> None:
    tool = os.fsencode(secret / "bin/tool")
    content = {
        "script": b"#!" + tool + b"\n",
        "elf": elf(tool),
        "relative": b"#!" + os.fsencode(os.path.relpath(secret / "bin/tool", bot)) + b"\n",
    }
    executable(bot / "run", content[kind])
    assert f"tools: [{secret}]" in refused("./run", bot)


def test_an_environments_settings_lead_nowhere_else(bot: Path, secret: Path) -> None:
    executable(bot / ".venv/bin/python")
    (bot / ".venv/pyvenv.cfg").write_text(f"home = {secret / 'bin'}\n")
    assert f"tools: [{secret}]" in refused(".venv/bin/python", bot)


def test_a_bots_environment_may_be_a_pipe_or_a_link(bot: Path, secret: Path) -> None:
    python = executable(bot / ".venv/bin/python")
    os.mkfifo(bot / ".venv/pyvenv.cfg")
    assert seen(python, bot).trees == ()
    (bot / ".venv/pyvenv.cfg").unlink()
    link(bot / ".venv/pyvenv.cfg", secret / "pyvenv.cfg")
    assert seen(python, bot).trees == ()


def test_the_organisers_links_do_not_carry_a_bots_own_words(
    bot: Path, home: Path, secret: Path
) -> None:
    executable(home / ".pyenv/versions/3.12/bin/python3")
    link(home / ".pyenv/versions/3.12/share", secret)
    refused(home / ".pyenv/versions/3.12/share/bin/tool", bot)


def test_granted_data_may_hold_anothers_scripts(bot: Path, home: Path, secret: Path) -> None:
    script = executable(home / "data/run", f"#!{secret}/bin/tool\n")
    with pytest.raises(NotGrantedError):
        choose_program(str(script), str(bot), data=(str(home / "data"),))
    link(home / "data/link", secret / "bin/tool")
    with pytest.raises(NotGrantedError):
        choose_program(f"{home}/data/link", str(bot), data=(str(home / "data"),))


def test_the_search_path_is_never_relative_nor_the_bots(
    bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(bot / "bin/tool")
    executable(bot / "tool2")
    monkeypatch.chdir(bot)
    monkeypatch.setenv("PATH", f".:bin::{bot}/bin:/usr/../{bot}/bin:/usr/bin")
    with pytest.raises(ProgramError, match="no such program on the search path"):
        choose_program("tool", str(bot))
    assert choose_program("tool2", str(bot)) == str(bot / "tool2")


def test_a_command_in_one_word_is_answered_with_the_list_to_write(bot: Path) -> None:
    with pytest.raises(ProgramError, match=r"so write \[python3, -u, bot\.py\]"):
        choose_program("python3 -u  bot.py", str(bot))


def test_files_that_commands_name_are_seen_only_where_allowed(
    bot: Path, home: Path, secret: Path
) -> None:
    data = home / "weights"
    data.mkdir()
    executable(data / "file")
    link(data / "link", secret / "bin/tool")
    granted = (str(data),)
    assert visible_file(f"{data}/file", data=granted) == f"{data}/file"
    assert visible_file("/usr/bin/env") == os.path.realpath("/usr/bin/env")
    for path in (f"{data}/link", f"{secret}/bin/tool", f"{data}/../../secret/bin/tool"):
        with pytest.raises(NotGrantedError):
            visible_file(path, data=granted)
    assert bot.is_dir()


def test_links_in_a_circle_are_refused(bot: Path) -> None:
    link(bot / "a", "b")
    link(bot / "b", "a")
    with pytest.raises(FileNotFoundError, match="circle"):
        seen(bot / "a", bot)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("/opt/go/bin/go", "tools: [/opt/go]"),
        ("/opt/tool", "tools: [/opt/tool]"),
        ("/srv/x/tool", "tools: [/srv/x]"),
        ("/home/me/.local/bin/tool", "tools: [/home/me/.local/bin/tool]"),
        ("/home/me/bin/tool", "tools: [/home/me/bin/tool]"),
        ("/opt/a b: [c]\x1b/bin/x", 'tools: ["/opt/a b: [c]\\u001b"]'),
    ],
)
def test_the_line_that_grants_a_program(path: str, line: str) -> None:
    assert tools_line(path) == line


# Shims


@pytest.mark.parametrize("manager", ["pyenv", "asdf", "mise"])
def test_a_shim_gives_way_to_the_program_behind_it(
    manager: str, bot: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = home / (".local/share/mise" if manager == "mise" else f".{manager}")
    where = "versions/3.12" if manager == "pyenv" else "installs/ruby/3.3"
    real = executable(root / where / "bin/ruby")
    executable(root / "shims/ruby", "#!/bin/sh\n")
    asked = f'#!/bin/sh\ntest "$PWD $1 $2" = "/ which ruby" && echo {real}\n'
    itself = executable(root / f"bin/{manager}", asked)
    monkeypatch.setenv("PATH", f"{root}/shims:/usr/bin:/bin")
    assert choose_program("ruby", str(bot)) == str(real)
    itself.write_text("#!/bin/sh\nexit 1\n")
    assert choose_program("ruby", str(bot)) == str(root / "shims/ruby")


@pytest.mark.parametrize("word", ["shims/python", "./shims/python", "link/python", "python"])
def test_no_program_of_a_bot_is_asked_for_anything(
    word: str, bot: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = f"#!/bin/sh\ntouch {tmp_path}/pwned\necho /usr/bin/env\n"
    for name in ("shims/python", "bin/bot", "bin/pyenv", "bin/asdf", "bin/mise", "bin/which"):
        executable(bot / name, trap)
    link(bot / "link", "shims")
    link(bot / "python", "shims/python")
    monkeypatch.chdir(bot)
    monkeypatch.setenv("PYENV_ROOT", ".")
    monkeypatch.setenv("PATH", f".:./bin:{bot}/bin:/usr/bin:/bin")
    assert choose_program(word, str(bot)) == str(bot / word)
    assert not (tmp_path / "pwned").exists()
    assert home.is_dir()


# The first line, as the kernel reads it


CONTROLS = [bytes([number]) for number in (*range(32), 127)]
LINES = [
    *(b"#!" + char + b"NAME\n" for char in CONTROLS),
    *(b"#!NAME" + char + b"\n" for char in CONTROLS),
    *(b"#!NAME" + char + b"word\n" for char in CONTROLS),
    *(b"#! \t NAME \t-x y\t\n", b"#!NAME", b"#!NAME ", b"#!\n", b"#! \t\n", b"#!", b"#!\0NAME\n"),
    *(b"#!NAME\r\n", b"#! NAME\r", b"#!\x85NAME\n", b"#!\xc2\xa0NAME\n", b"#!#!NAME\n"),
    *(b"#!" + b" " * count + b"NAME\n" for count in (200, 245, 246, 247, 248, 249, 250, 253, 254)),
    *(b"#!" + b" " * count + b"NAME x" for count in (245, 246, 247, 248, 249, 250, 251)),
    b"#!NAME " + b"x" * 300 + b"\n",
    b"#!" + b" " * 300 + b"NAME\n",
    b"#!NAME" + b"x" * 300 + b"\n",
]


@pytest.mark.parametrize("line", LINES, ids=ascii)
def test_a_first_line_is_read_as_the_kernel_reads_it(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever we say that a name leads, the kernel finds a program, and nowhere else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script").write_bytes(line)
    (tmp_path / "script").chmod(0o755)
    try:
        name = script_interpreter(line)
    except UnrunnableError:
        name = b""
    if name:
        shutil.copy("/usr/bin/true", name)  # relative to the working directory, as for a kernel
    try:
        subprocess.run(["./script"], check=True)
    except OSError:
        ran = False
    else:
        ran = True
    assert ran == bool(name)


@pytest.mark.parametrize("levels", range(1, 8))
def test_interpreters_that_are_scripts_are_followed_as_far(levels: int, bot: Path) -> None:
    named = "/usr/bin/true"
    for level in range(levels):
        named = str(executable(bot / f"level{level}", f"#!{named}\n"))
    try:
        subprocess.run([named], check=True)
    except OSError:
        with pytest.raises(ProgramError, match="and so on"):
            choose_program(named, str(bot))
    else:
        assert choose_program(named, str(bot)) == named


def test_relative_interpreters_start_from_the_bots_folder(bot: Path) -> None:
    executable(bot / "sub/run", "#!./tool\n")
    with pytest.raises(ProgramError, match=r"run by '\./tool', and there is no such file"):
        choose_program("sub/run", str(bot))
    executable(bot / "tool", "#!/bin/sh\n")
    assert choose_program("sub/run", str(bot)) == str(bot / "sub/run")


def test_loaders_are_read_from_real_programs() -> None:
    loader = read_header(os.path.realpath("/usr/bin/env")).interpreter
    assert loader is not None
    assert Path(loader).exists()
    assert not read_header(os.path.realpath("/usr/bin/env")).is_script


MESSAGES = {
    "#!/no/such/sh\n": r"may not use this.*tools: \[/no/such\]",
    "#!/usr/bin/no-such-sh\n": "run by '/usr/bin/no-such-sh', and there is no such file",
    "#!/bin/sh\r\n": r"ends with a carriage return",
    "#!\n": "names no interpreter",
    "#!/usr/bin\n": "interpreter '/usr/bin' is a folder",
    "#!/" + "x" * 300 + "\n": "longer than the 256 bytes",
}


@pytest.mark.parametrize("content", MESSAGES)
def test_a_script_that_cannot_run_says_why(content: str, bot: Path) -> None:
    executable(bot / "run", content)
    with pytest.raises(ProgramError, match=MESSAGES[content]):
        choose_program("./run", str(bot))
