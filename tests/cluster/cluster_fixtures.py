from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from whole_program import Arena, arena, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Cluster", "arena", "cluster", "shared_cluster"]


SPARING = {
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
"""Settings with which idle programs of Dask take a quarter of the CPU that they take without."""


@dataclass
class Cluster:
    """A real scheduler and real workers on loopback, each at a free port.

    Args:
        place: Where all of them keep their files and bots.
    """

    place: Arena
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        file = self.place.path / "scheduler.json"
        options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file)
        self.scheduler = self._start("scheduler", *options)
        self.address: str = until(lambda: self._address(file))

    @staticmethod
    def _address(file: Path) -> str | None:
        try:
            return str(json.loads(file.read_text())["address"])
        except (OSError, ValueError):
            return None

    def add(self, *options: str, host: str = "127.0.0.1", **env: str) -> subprocess.Popen[bytes]:
        """Start a worker for one match at a time; another host is another loopback address."""
        words = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", host, *options)
        worker = self._start("worker", self.address, *words, **env)
        self.workers.append(worker)
        return worker

    @contextmanager
    def with_another(
        self, *options: str, host: str = "127.0.0.1", **env: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Have one worker more for a while, which leaves nothing to other tests."""
        worker = self.add(*options, host=host, **env)
        try:
            yield worker
        finally:
            worker.terminate()
            try:
                worker.wait(20)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
            self.workers.remove(worker)

    def _start(self, *words: object, **env: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *map(str, words)],
            cwd=self.place.path,
            env=self.place.environment | SPARING | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def is_clean(self) -> bool:
        """Return whether only the scheduler and the workers themselves are left."""
        own = {process.pid for process in (self.scheduler, *self.workers)}
        left = [path for path in self.place.temp.iterdir() if "dask" not in path.name]
        return not self.place.processes().keys() - own and not left

    def close(self) -> None:
        """End everything."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
        self.place.close()


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two workers that a test may break."""
    yield from _cluster(tmp_path_factory)


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of two workers that many tests use."""
    yield from _cluster(tmp_path_factory)


def _cluster(paths: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(Arena(paths.mktemp("cluster")))
    try:
        cluster.add()
        cluster.add()
        yield cluster
    finally:
        cluster.close()
