"""The dispatcher, which hands out chunks of matches to workers and stores the deals."""

from __future__ import annotations

import shlex
import time
from collections import deque
from collections.abc import Callable, Iterable
from itertools import count
from typing import TYPE_CHECKING

from tourney_runner.run import progress as checkpoint
from tourney_runner.run.lanes import Lanes
from tourney_runner.run.worker_process import Check, Checked, Chunk, Played, Waiting
from tourney_runner.text import counted, escaped

if TYPE_CHECKING:
    from tourney_runner.play.match_plan import MatchPlan
    from tourney_runner.process.stop_signals import StopSignals
    from tourney_runner.results.records import DealRecord, Decision
    from tourney_runner.results.store import Store
    from tourney_runner.run.executor import Executor
    from tourney_runner.run.planner import Block, Planner
    from tourney_runner.run.progress import Progress, Reporter
    from tourney_runner.run.results_folder import ResultsFolder
    from tourney_runner.run.worker_count import WorkerCount
    from tourney_runner.run.worker_process import VoidDeal

__all__ = ["DeadlineError", "Dispatcher", "Enough"]

Enough = Callable[[Iterable["DealRecord"]], bool]
"""A function that gets the deals of each block in schedule order, and returns whether to stop."""

_CHUNK_SECONDS = 0.5
"""The target duration of a chunk: long compared with a commit, short for a waiting person."""
_LONGEST_CHUNK = 1.0
"""Seconds after which a chunk begins no further deal, so that finished deals are stored."""
_WORTH_SECONDS = 1.0
"""The seconds of another lane's work that justify restarting a worker's bots, which takes some
hundredths of a second each."""
_REQUEST_LOGGED = 1000
"""The number of characters of a request in a log; the results file has all of it."""
_TICK = 0.1
"""Seconds between two checks of signals and updates of the screen."""
_STALE = 2.0
"""Seconds after which a worker that still waits for a bot would have reported it again."""


class DeadlineError(Exception):
    """An error for a run whose deadline has passed; no match was cut off."""


class Dispatcher:
    """A dispatcher of the matches of one tournament.

    Args:
        executor: The workers.
        signals: Checked several times a second.
        reporter: Gets the progress.
        worker_count: The number of workers, which the organiser can change during the run.
        deadline: The time (seconds since the epoch) after which no chunk is handed out.
    """

    def __init__(
        self,
        executor: Executor,
        signals: StopSignals,
        reporter: Reporter,
        worker_count: WorkerCount | None = None,
        deadline: float | None = None,
    ) -> None:
        self._executor = executor
        self._signals = signals
        self._reporter = reporter
        self._worker_count = worker_count
        self._deadline = deadline
        self._numbers = count(1)
        self._open: dict[int, Chunk] = {}
        self._heard: dict[int, float] = {}
        self._void: deque[VoidDeal] = deque()
        """Deals that were void twice and wait until nothing else is played."""
        self._match_seconds: float | None = None
        self.cpu = 0.0
        """CPU seconds of the workers themselves so far."""

    def check(self, entrants: Iterable[int]) -> list[Checked]:
        """Start each of these entrants once, one at a time per worker."""
        waiting = deque(Check(next(self._numbers), entrant) for entrant in entrants)
        checked: list[Checked] = []
        under_way = 0
        slow: set[str] = set()
        while waiting or under_way:
            while waiting and under_way < self._executor.slots:
                self._executor.submit(waiting.popleft())
                under_way += 1
            for outcome in self._executor.wait(_TICK):
                if isinstance(outcome, Checked):
                    checked.append(outcome)
                    under_way -= 1
                elif isinstance(outcome, Waiting) and outcome.bot not in slow:
                    slow.add(outcome.bot)
                    self._reporter.say(f"waiting for {outcome.bot} to start")
            self._attend()
        return sorted(checked, key=lambda outcome: outcome.entrant)

    def play(
        self,
        planner: Planner,
        store: Store,
        folder: ResultsFolder,
        progress: Progress,
        enough: Enough | None = None,
    ) -> int | None:
        """Play the missing matches, until the planner has no more blocks or `enough` returns true.

        Returns:
            The number of rounds that were enough; None if the planner had no more blocks.

        Raises:
            Interrupted: A signal came; unfinished chunks are void.
            DeadlineError: The deadline has passed; all chunks that were handed out are stored.
        """
        for block in planner.blocks():
            if block.there:
                for record in store.records(block.span.rounds, block.span.matches):
                    progress.add(record, earlier=True)
                    self._signals.check()
                progress.finished += block.finished
            self._play_block(block, store, folder, progress)
            for decision in planner.finish(block):
                self._announce(decision, folder, progress)
            self._report(planner.remarks(), store)
            # `enough` depends on all deals, so a checkpoint must not skip any.
            if block.whole and enough is None:
                checkpoint.keep(store, block.number + 1, progress)
            if enough is not None and enough(store.records(block.span.rounds, block.span.matches)):
                return block.span.rounds.stop
        return None

    def _play_block(
        self, block: Block, store: Store, folder: ResultsFolder, progress: Progress
    ) -> None:
        lanes = Lanes(block.waves, max(1, self._executor.slots))
        while lanes.left or self._open or self._void:
            self._submit(block.number, lanes)
            for outcome in self._executor.wait(_TICK):
                if isinstance(outcome, Played):
                    self._heard.pop(outcome.number, None)
                    done = self._open.pop(outcome.number)
                    lanes.put_back(done.lane, outcome.rest)
                    self._submit(block.number, lanes)  # keep the worker busy before writing
                    self._store(outcome, done, store, folder, progress)
                elif isinstance(outcome, Waiting):
                    self._heard[outcome.number] = time.monotonic()
                    progress.waiting[outcome.number] = outcome.bot
            self._forget_waiting(progress)
            self._attend()
            self._reporter.update(progress)
            if self._is_late and (lanes.left or self._void) and not self._open:
                raise DeadlineError

    def _report(self, remarks: list[str], store: Store) -> None:
        """Report what is new of the format's remarks, and store them for the pages."""
        known = store.about().remarks if remarks else ()
        for line in remarks[len(known) :]:
            self._reporter.say(line)
        if tuple(remarks) != known:
            store.change(remarks=tuple(remarks))

    def _announce(self, decision: Decision, folder: ResultsFolder, progress: Progress) -> None:
        """Report that a bot is benched, and how to undo it."""
        name = progress.tallies[decision.entrant].name
        undo = shlex.join(["tourney", "unbench", str(folder.path), name])
        self._reporter.say(
            f"{name} is benched, and forfeits its deals from here on: {decision.reason}."
            f" To let it play: {undo}"
        )

    def _attend(self) -> None:
        """Do the periodic work: report news, adapt the number of workers and check signals.

        Raises:
            Interrupted: A signal came.
        """
        for line in self._executor.news():
            self._reporter.say(line)
        self._follow_worker_count()
        self._signals.check()

    def _follow_worker_count(self) -> None:
        """Adapt to the number of workers that the organiser has set during the run."""
        if self._worker_count is None:
            return
        if not self._executor.can_resize:
            self._worker_count.report(None)
            return
        wanted = self._worker_count.wanted()
        if wanted is not None and wanted != self._executor.slots:
            self._executor.resize(wanted)
            self._reporter.say(
                f"{counted(wanted, 'worker')} from now on" if wanted else "paused: no workers"
            )
        self._worker_count.report(self._executor.workers)

    @property
    def _is_late(self) -> bool:
        return self._deadline is not None and time.time() >= self._deadline

    def _forget_waiting(self, progress: Progress) -> None:
        """Remove bots from `progress` for which workers no longer wait."""
        recent = time.monotonic() - _STALE
        for number in list(progress.waiting):
            if self._heard.get(number, 0.0) < recent:
                del progress.waiting[number]

    def _submit(self, block: int, lanes: Lanes) -> None:
        """Give every idle worker a chunk, if there is one for it and time is left."""
        if self._is_late:
            return
        slots = self._executor.slots
        busy = {chunk.lane for chunk in self._open.values()}
        idle = [lane for lane in range(slots) if lane not in busy]
        without: list[int] = []
        for lane in idle[: max(0, slots - len(self._open))]:
            if matches := lanes.take(lane, self._chunk_size(lanes.left)):
                self._hand_out(block, lane, matches)
            else:
                without.append(lane)
        worth = int(_WORTH_SECONDS / (self._match_seconds or 1.0)) if self._open else 0
        for lane in without:
            if matches := lanes.relieve(self._chunk_size(lanes.left), worth):
                self._hand_out(block, lane, matches)
        if self._void and slots and not (self._open or lanes.left):
            void = self._void.popleft()
            self._hand_out(block, 0, (void.match,), void)

    def _hand_out(
        self, block: int, lane: int, matches: tuple[MatchPlan, ...], void: VoidDeal | None = None
    ) -> None:
        number = next(self._numbers)
        chunk = Chunk(number, matches, block, lane, void is not None, void, _LONGEST_CHUNK)
        self._open[chunk.number] = chunk
        self._executor.submit(chunk)

    def _chunk_size(self, left: int) -> int:
        """Return the matches for about `_CHUNK_SECONDS`, fewer towards the end of a block."""
        if self._match_seconds is None:
            return 1
        fair = -(-left // (2 * self._executor.slots))
        return max(1, min(int(_CHUNK_SECONDS / self._match_seconds), fair))

    def _store(
        self, played: Played, chunk: Chunk, store: Store, folder: ResultsFolder, progress: Progress
    ) -> None:
        store.add(played.records)
        self.cpu += played.cpu
        self._time_matches(played.seconds, len(chunk.matches) - len(played.rest))
        progress.finished += len(chunk.matches) - len(played.void) - len(played.rest)
        self._void.extend(played.void)
        for record in played.records:
            progress.add(record)
            progress.chatty |= {record.seating[note.seat] for note in record.strays()}
            if record.faults or record.notes:
                _log(record, folder, progress)

    def _time_matches(self, seconds: float, matches: int) -> None:
        """Update the mean duration of a match by those of a chunk that did not run out of time."""
        before = self._match_seconds
        if not matches:  # a match takes at least as long
            self._match_seconds = max(before or 0.0, seconds)
            return
        each = max(1e-6, seconds / matches)
        self._match_seconds = each if before is None else 0.7 * before + 0.3 * each


def _log(record: DealRecord, folder: ResultsFolder, progress: Progress) -> None:
    """Add a deal's faults and notes to the bots' logs."""
    lines: dict[int, list[str]] = {}
    for fault in record.faults:
        parts = [
            fault.cause if fault.unplayed else f"FAULT {fault.kind}: {fault.cause}",
            f"request: {fault.request[:_REQUEST_LOGGED]}" if fault.request else "",
            f"its output since: {fault.answer}" if fault.answer else "",
            f"its stderr: {fault.stderr}" if fault.stderr else "",
        ]
        lines.setdefault(fault.seat, []).extend(filter(None, parts))
    for note in record.notes:
        text = f"stderr: {note.text}" if note.kind == "stderr" else note.text
        lines.setdefault(note.seat, []).append(text)
    for seat, texts in lines.items():
        entrant = record.seating[seat]
        head = f"--- deal {record.key.name}, seat {seat}"
        folder.log(entrant, progress.tallies[entrant].name, [head, *map(_readable, texts)])


def _readable(text: str) -> str:
    """Return a bot's output without characters that control a terminal."""
    return "\n".join(escaped(line, len(line)) for line in text.splitlines())
