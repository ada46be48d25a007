from __future__ import annotations

import os
import resource
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandbox_stage import works
from tourney_runner.play.faults import hosts_failure
from tourney_runner.process.access import choose_program
from tourney_runner.process.launcher import Program, ResourceLimits, Rights
from tourney_runner.process.sandbox import choose, run_build
from tourney_runner.process.sandbox.bwrap import FEATURES, BwrapLauncher, Features
from tourney_runner.process.sandbox.selection import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tourney_runner.process.child import Child, Exit
    from tourney_runner.process.launcher import Launcher

LIMITS = ResourceLimits()
PYTHON = (sys.executable, "-I")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bot's folder, as staged: readable by all."""
    place = tmp_path / "bot"
    place.mkdir()
    place.chmod(0o755)
    return place


def lines_of(child: Child, seconds: float = 20) -> list[str]:
    """All that a bot prints until it ends."""
    received = b""
    until = time.monotonic() + seconds
    over = False
    while not over and time.monotonic() < until:
        over = child.has_exited()  # before reading: what it wrote last is read as well
        for stream in (child.stdout, child.stderr):
            with suppress(BlockingIOError):
                received += os.read(stream, 65536)
        time.sleep(0.005)
    return received.decode().splitlines()


def run(
    launcher: Launcher, command: tuple[str, ...], folder: Path, *, rights: Rights | None = None
) -> tuple[list[str], Exit]:
    child = launcher.start(Program(command, str(folder), rights=rights or Rights()), LIMITS)
    try:
        lines = lines_of(child)
    finally:
        ending = child.kill()
    return lines, ending


def python(code: str) -> tuple[str, ...]:
    return (*PYTHON, "-c", code)


def bwrap() -> Launcher:
    if (missing := works("bwrap")) is not None:
        pytest.skip(missing)
    return choose("bwrap", trusted=False)


C_SOURCE = """
#include <stdio.h>
int main(int n, char **words) { (void)words; printf("hello %d\\n", n - 1); return 0; }
"""
JAVA_SOURCE = """
class Hello {
    public static void main(String[] words) { System.out.println("hello " + words.length); }
}
"""
INLINE = {
    "python": ("-c", "import sys, pytest; print('hello', len(sys.argv) - 1)"),
    "node": ("-e", "console.log('hello', process.argv.length - 1)"),
    "perl": ("-e", r"print 'hello ', scalar(@ARGV), qq(\n)"),
}


def installed(name: str) -> str:
    found = sys.executable if name == "python" else shutil.which(name)
    if found is None:
        pytest.skip(f"no {name}")
    return found


@pytest.mark.parametrize("language", INLINE)
def test_an_interpreter_starts_inside(language: str, launcher: Launcher, folder: Path) -> None:
    command = (installed(language), *INLINE[language])
    assert run(launcher, command, folder)[0] == ["hello 0"]


def test_c_is_built_and_starts_inside(launcher: Launcher, folder: Path) -> None:
    (folder / "hello.c").write_text(C_SOURCE)
    built = run_build(launcher, (installed("cc"), "-o", "hello", "hello.c"), str(folder))
    assert built.problem is None, built.output
    assert run(launcher, (str(folder / "hello"),), folder)[0] == ["hello 0"]


@pytest.fixture(scope="session")
def java_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once: it takes seconds."""
    source = tmp_path_factory.mktemp("java") / "Hello.java"
    source.write_text(JAVA_SOURCE)
    subprocess.run([installed("javac"), source], check=True)
    return source.with_suffix(".class")


def test_java_starts_inside(java_class: Path, launcher: Launcher, folder: Path) -> None:
    shutil.copy(java_class, folder)
    command = (installed("java"), "-cp", str(folder), "Hello")
    assert run(launcher, command, folder)[0] == ["hello 0"]


def test_a_bot_starts_in_its_own_folder(launcher: Launcher, folder: Path) -> None:
    (folder / "data.txt").write_text("mine")
    lines, _ = run(launcher, python("print(open('data.txt').read())"), folder)
    assert lines == ["mine"]


def test_a_folder_behind_a_link_is_the_same_folder(launcher: Launcher, folder: Path) -> None:
    (folder / "bot.py").write_text("print('here')")
    (folder.parent / "link").symlink_to(folder)
    through = folder.parent / "link"
    assert run(launcher, (*PYTHON, str(through / "bot.py")), through)[0] == ["here"]


def test_the_environment_is_clean(
    launcher: Launcher, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    monkeypatch.setenv("GRANTED", "yes")
    monkeypatch.delenv("ABSENT", raising=False)
    code = python("import os; print(*sorted(os.environ))")
    lines, _ = run(launcher, code, folder, rights=Rights(env=("GRANTED", "ABSENT")))
    allowed = {"GRANTED", "HOME", "LANG", "PATH", "PWD", "PYTHONDONTWRITEBYTECODE"}
    allowed |= {"PYTHONHASHSEED", "TMPDIR", "TOURNEY_PROCESS"}
    assert set(lines[0].split()) <= allowed
    assert "GRANTED" in lines[0].split()


def test_no_descriptor_of_the_runner_is_inherited(launcher: Launcher, folder: Path) -> None:
    lines, _ = run(launcher, python("import os; print(len(os.listdir('/proc/self/fd')))"), folder)
    assert lines == ["4"]  # three pipes, and the folder that is being listed


def descriptors() -> list[int]:
    return [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]


@contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Leave this program no more than so many to open."""
    bounds = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = max(descriptors()) + 20
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, bounds[1]))
    taken: list[int] = []
    try:
        with suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        for _ in range(free):
            os.close(taken.pop())
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, bounds)


@pytest.mark.parametrize("backend", ["bwrap", "landlock", "limits"])
def test_a_start_that_finds_too_few_descriptors_keeps_none(backend: str, folder: Path) -> None:
    if backend != "limits" and (missing := works(backend)) is not None:
        pytest.skip(missing)
    launcher = BACKENDS[backend].open(None)
    before = len(descriptors())
    for free in range(6 if backend == "limits" else 8):
        with few_descriptors(free), pytest.raises(OSError, match="Too many open files"):
            launcher.start(Program(python("pass"), str(folder)), LIMITS)
    assert len(descriptors()) == before


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("pass", "exited with status 0"),
        ("import sys; sys.exit(3)", "exited with status 3"),
        ("import sys; sys.exit(255)", "exited with status 255"),
        ("import os; os.abort()", "was ended by SIGABRT (signal 6)"),
        ("import os; os.kill(os.getpid(), 11)", "was ended by SIGSEGV (signal 11)"),
    ],
)
def test_the_ending_is_the_bots_own(
    code: str, ending: str, launcher: Launcher, folder: Path
) -> None:
    assert str(run(launcher, python(code), folder)[1]) == ending


def test_the_processes_are_the_bots_own(launcher: Launcher, folder: Path) -> None:
    code = "import os, time; os.fork() or os.fork(); print('up', flush=True); time.sleep(60)"
    child = launcher.start(Program(python(code), str(folder)), LIMITS)
    received = b""
    while received.count(b"up") < 3:
        with suppress(BlockingIOError):
            received += os.read(child.stdout, 100)
    pids = child.processes()
    names = {Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0] for pid in pids}
    resident = child.memory()
    child.kill()
    assert len(pids) == 3
    assert names == {sys.executable.encode()}
    assert resident > 3 * 4 * 1024 * 1024
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_closing_the_input_ends_a_polite_bot(launcher: Launcher, folder: Path) -> None:
    child = launcher.start(Program(python("import sys; sys.stdin.read()"), str(folder)), LIMITS)
    child.close_input()
    assert child.wait(10)
    assert child.kill().status == 0


def test_the_network_is_there_only_where_granted(launcher: Launcher, folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = python(f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)")
        assert run(launcher, code, folder)[1].status == 1
        assert run(launcher, code, folder, rights=Rights(network=True))[1].status == 0


def test_granted_data_can_be_read_and_not_written(
    launcher: Launcher, folder: Path, tmp_path: Path
) -> None:
    data = tmp_path / "weights"
    data.write_text("42")
    data.chmod(0o644)
    rights = Rights(data=(str(data),))
    reading = python(f"print(open({str(data)!r}).read())")
    writing = python(f"open({str(data)!r}, 'a')")
    assert run(launcher, reading, folder, rights=rights)[0] == ["42"]
    assert run(launcher, writing, folder, rights=rights)[1].status == 1
    assert run(launcher, reading, folder)[1].status == 1


def test_a_granted_device_is_there(launcher: Launcher, folder: Path) -> None:
    usual = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx"}
    devices = [
        path
        for path in sorted(Path("/dev").iterdir())
        if path.name not in usual
        and not path.is_symlink()
        and path.is_char_device()
        and path.stat().st_mode & 0o006 == 6
    ]
    if not devices:
        pytest.skip("no device that anyone may open")
    code = python(f"import os; os.open({str(devices[0])!r}, os.O_RDWR | os.O_NONBLOCK)")
    assert run(launcher, code, folder)[1].status == 1
    lines, _ = run(launcher, code, folder, rights=Rights(devices=(str(devices[0]),)))
    assert not any("PermissionError" in line or "FileNotFound" in line for line in lines)


def test_a_program_that_is_missing_is_the_bots_fault(launcher: Launcher, folder: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        launcher.start(Program((str(folder / "nowhere"),), str(folder)), LIMITS)


@pytest.mark.parametrize("text", ["no program", "#!/no/such/interpreter\n"])
def test_a_program_that_cannot_run_is_the_bots_fault(
    text: str, launcher: Launcher, folder: Path
) -> None:
    (folder / "bot").write_text(text)
    (folder / "bot").chmod(0o755)
    program = Program((str(folder / "bot"),), str(folder))
    refused: OSError | None = None
    try:
        child = launcher.start(program, LIMITS)
    except OSError as error:
        refused = error
    else:
        assert child.wait(10)
        assert child.kill().status != 0
    assert refused is None or not hosts_failure(refused, program)


@pytest.mark.skipif(os.geteuid() != 0, reason="not run as root")
def test_a_folder_that_only_root_can_read_is_named(launcher: Launcher, folder: Path) -> None:
    folder.chmod(0o700)
    with pytest.raises(PermissionError, match="readable by all"):
        launcher.start(Program(python("pass"), str(folder)), LIMITS)


def test_temporary_files_vanish_with_the_bot(folder: Path) -> None:
    launcher = bwrap()
    code = python("open('/tmp/kept', 'x').write('x' * 1000); print('written')")
    assert run(launcher, code, folder)[0] == ["written"]
    assert run(launcher, code, folder)[0] == ["written"]  # it was not there any more


def test_temporary_files_are_limited_together(folder: Path) -> None:
    launcher = bwrap()
    limits = ResourceLimits(temp_size=4 * 1024 * 1024)
    code = "for n in range(3): open(f'/tmp/{n}', 'wb').write(bytes(2 << 20)); print(n, flush=True)"
    child = launcher.start(Program(python(code), str(folder)), limits)
    lines = lines_of(child)
    child.kill()
    assert lines[:2] == ["0", "1"]
    assert "No space left on device" in lines[-1]


@pytest.mark.parametrize("features", FEATURES)
def test_older_bubblewraps_confine_as_well(features: Features, folder: Path) -> None:
    bwrap()
    launcher = BwrapLauncher(shutil.which("bwrap") or "bwrap", features)
    code = python(
        "import os, sys\n"
        "for place in ('/tmp', '/dev/shm', '/dev', '/', '.'):\n"
        "    try: open(os.path.join(place, 'file'), 'w'); print(place)\n"
        "    except OSError: pass\n"
    )
    lines, ending = run(launcher, code, folder)
    assert ending.status == 0
    assert lines == (["/tmp", "/dev/shm"] if "no temporary" not in launcher.describe() else [])


def a_python() -> tuple[Path, str]:
    """An installation of Python that can be copied, and the name of its program."""
    places = [Path(sys.base_prefix), *sorted(Path("~/.pyenv/versions").expanduser().glob("3.1*"))]
    for place in places:
        for program in sorted(place.glob("bin/python3.1[0-9]"), reverse=True):
            if place != Path("/usr") and not (place / "pyvenv.cfg").exists():
                return place, program.name
    pytest.skip("no Python here that can be copied")


def linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def copy_python(to: Path) -> str:
    """Copy a whole Python, without its tests, and return the name of its program."""
    place, name = a_python()
    left_out = shutil.ignore_patterns("test", "site-packages", "__pycache__", "config-*", "share")
    shutil.copytree(place, to, symlinks=True, ignore=left_out, copy_function=linked)
    return name


def venv_layout(home: Path, _: Path) -> tuple[str, ...]:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "env"], check=True)
    return (str(home / "env/bin"), "python", *INLINE_PYTHON)


def uv_layout(home: Path, _: Path) -> tuple[str, ...]:
    """An environment that uv itself made from a Python in its own folder."""
    python = home / ".local/share/uv/python/cpython-3-linux-x86_64-gnu"
    name = copy_python(python)
    words = [installed("uv"), "venv", "--offline", "--no-config", "--python"]
    subprocess.run([*words, python / "bin" / name, home / "env"], check=True, capture_output=True)
    return (str(home / "env/bin"), "python", *INLINE_PYTHON)


def pyenv_layout(home: Path, _: Path) -> tuple[str, ...]:
    """A shim that pyenv itself made."""
    pyenv = Path(installed("pyenv")).resolve().parents[1]
    for folder in ("bin", "libexec", "pyenv.d"):
        shutil.copytree(pyenv / folder, home / ".pyenv" / folder, symlinks=True)
    name = copy_python(home / ".pyenv/versions/3.99.0")
    (home / ".pyenv/version").write_text("3.99.0\n")
    subprocess.run([home / ".pyenv/bin/pyenv", "rehash"], check=True, env=dict(os.environ))
    return (str(home / ".pyenv/shims"), name, *INLINE_PYTHON)


def conda_layout(home: Path, _: Path) -> tuple[str, ...]:
    root = home / "miniconda3/envs/bots"
    name = copy_python(root)
    (root / "conda-meta").mkdir()
    (root / "conda-meta/history").touch()
    return (str(root / "bin"), name, *INLINE_PYTHON)


def nvm_layout(home: Path, _: Path) -> tuple[str, ...]:
    node = Path(installed("node")).resolve()
    place = home / ".nvm/versions/node/v99.0.0/bin"
    place.mkdir(parents=True)
    linked(str(node), str(place / "node"))
    return (str(place), "node", *INLINE["node"])


def rustup_layout(home: Path, folder: Path) -> tuple[str, ...]:
    """The proxies of rustup, and its folder behind a link."""
    real = Path(installed("rustup")).parents[1]
    toolchains = Path(os.environ.get("RUSTUP_HOME", real.parent / ".rustup"))
    if not toolchains.is_dir():
        pytest.skip("no rustup")
    (home / ".cargo/bin").mkdir(parents=True)
    for program in real.glob("bin/*"):
        if program.name in {"rustup", "rustc", "cargo"}:
            shutil.copy2(program, home / ".cargo/bin", follow_symlinks=False)
    (home / ".rustup").symlink_to(toolchains)
    (folder / "hello.rs").write_text("fn main() {}\n")
    return (str(home / ".cargo/bin"), "rustc", "--print", "crate-name", "hello.rs")


def sdkman_layout(home: Path, folder: Path) -> tuple[str, ...]:
    jdk = Path(installed("java")).resolve().parents[1]
    place = home / ".sdkman/candidates/java"
    shutil.copytree(jdk, place / "99-tem", symlinks=True, copy_function=linked)
    (place / "current").symlink_to("99-tem")
    return (str(place / "current/bin"), "java", "-cp", str(folder), "Hello")


def go_layout(_: Path, folder: Path) -> tuple[str, ...]:
    (folder / "main.go").write_text('package main\n\nfunc main() { println("hello 0") }\n')
    cache = {"GOCACHE": str(folder.parent / "go"), "GO111MODULE": "off", "CGO_ENABLED": "0"}
    words = [installed("go"), "build", "-o", "hello", "main.go"]
    subprocess.run(words, cwd=folder, check=True, env={**os.environ, **cache})
    return ("/usr/bin", "./hello")


def shell_layout(_: Path, folder: Path) -> tuple[str, ...]:
    (folder / "run").write_text('#!/bin/sh\necho hello "$#"\n')
    (folder / "run").chmod(0o755)
    return ("/usr/bin", "./run")


def archive_layout(_: Path, folder: Path) -> tuple[str, ...]:
    with zipfile.ZipFile(folder / "bot.jar", "w") as archive:
        archive.write(folder / "Hello.class", "Hello.class")
        archive.writestr("META-INF/MANIFEST.MF", "Main-Class: Hello\n")
    return (str(Path(installed("java")).parent), "java", "-jar", "bot.jar")


def granted_layout(home: Path, _: Path) -> tuple[str, ...]:
    """A folder of no known kind, which needs a line ``tools:``."""
    (home / "kit/libexec").mkdir(parents=True)
    program = home / "kit/libexec/hello"
    program.write_text('#!/bin/sh\n. "${0%/*}/words"\necho "$word" "$#"\n')
    program.chmod(0o755)
    (home / "kit/libexec/words").write_text("word=hello\n")
    return (str(home / "kit"), str(program))


INLINE_PYTHON = ("-c", "import json, sys; print('hello', len(sys.argv) - 1)")
REAL_LAYOUTS = {
    "venv": venv_layout,
    "uv": uv_layout,
    "pyenv": pyenv_layout,
    "conda": conda_layout,
    "nvm": nvm_layout,
    "rustup": rustup_layout,
    "SDKMAN!": sdkman_layout,
    "Go program": go_layout,
    "shell script": shell_layout,
    "Java archive": archive_layout,
    "granted folder": granted_layout,
}
VARIABLES_OF_MANAGERS = (
    *("UV_PYTHON_INSTALL_DIR", "UV_TOOL_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "PYENV_ROOT"),
    *("CONDA_PREFIX", "CONDA_ROOT", "CONDA_EXE", "NVM_DIR", "RUSTUP_HOME", "CARGO_HOME"),
    *("SDKMAN_DIR", "PYENV_VERSION", "VIRTUAL_ENV"),
)


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "Go program" else ())
        for name in REAL_LAYOUTS
    ],
)
def test_a_legitimate_layout_starts_with_one_line_at_most(
    layout: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """The organiser's home is the test's; what a manager would install is copied into it."""
    if layout in {"SDKMAN!", "Java archive"}:
        shutil.copy(request.getfixturevalue("java_class"), folder)
    home = tmp_path / "home"
    home.mkdir()
    with monkeypatch.context() as changed:
        changed.setenv("HOME", str(home))
        for name in VARIABLES_OF_MANAGERS:
            if layout != "rustup":
                changed.delenv(name, raising=False)
        place, word, *rest = REAL_LAYOUTS[layout](home, folder)
        for name in VARIABLES_OF_MANAGERS:
            changed.delenv(name, raising=False)
        changed.setenv("PATH", f"{place}:/usr/bin:/bin")
        rights = Rights(tools=(place,) if layout == "granted folder" else ())
        program = choose_program(word, str(folder), tools=rights.tools)
        for backend in ("bwrap", "landlock"):
            if works(backend) is None:
                launcher = choose(backend, trusted=False)
                lines, ending = run(launcher, (program, *rest), folder, rights=rights)
                assert (lines, ending.status) in ((["hello 0"], 0), (["hello"], 0)), backend
