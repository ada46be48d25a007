"""Reading the entries under ``bots:`` and the ``bot.yaml`` files that they name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from tourney_runner.config.models import BotGrants, BotManifest, BotReference, Entrant, InlineBot
from tourney_runner.config.paths import expanded, missing_file, missing_program, no_folder, resolved
from tourney_runner.config.validation import Path as Place
from tourney_runner.config.validation import Problem, read
from tourney_runner.config.yaml_document import Document, load_document
from tourney_runner.process.installations import is_crowded
from tourney_runner.process.launcher import Rights
from tourney_runner.text import escaped, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MANIFEST", "Candidate", "EntryReader"]

MANIFEST = "bot.yaml"

_RIGHTS = ("data", "devices", "env", "network", "tools", "trusted")
_ORGANISERS_HINTS = {
    name: (
        f"a bot cannot grant itself rights: remove it here; the organiser can grant it in the "
        f"tournament's file, {{bot: FOLDER, {name}: ..}}"
    )
    for name in _RIGHTS
} | {
    "team": "teams are set by the organiser: remove it here; it belongs in the tournament's file, "
    "{bot: FOLDER, team: ..}",
    "time": "time limits are set by the organiser: remove it here; it belongs in the tournament's "
    "file, {bot: FOLDER, time: {move: 2s}}",
    "anchor": "the anchor of ratings is set by the organiser: remove it here; it belongs in the "
    "tournament's file, {bot: FOLDER, anchor: 25}",
}
_DATA = "a file or folder to read"
_TOOLS = "a folder with programs, such as /opt/go"
_FORMS = "expected a folder, {bot: FOLDER, name: ..} or {name: .., command: .., cwd: ..}"


@dataclass(frozen=True)
class Candidate:
    """A readable entry."""

    place: Place
    """Its place in the tournament's file."""
    entrant: Entrant
    named: Place
    """The place of its name, if that is in the same file; else of the entry."""
    broken: tuple[Problem, ...] = ()
    """The reasons why it cannot run on this machine."""


@dataclass
class EntryReader:
    """A reader of entries, one by one; each ``bot.yaml`` is read once."""

    document: Document
    base: FilePath
    """The folder that paths in the document are relative to."""
    _manifests: dict[FilePath, tuple[Document, BotManifest] | None] = field(default_factory=dict)

    def read(self, index: int) -> Candidate | None:
        """Return an entry by its number, or None after reporting its problems."""
        place: Place = ("bots", index)
        value = self.document.get(place)
        if isinstance(value, dict):
            return self.reference(place) if "bot" in value else self._inline(place)
        text = self.document.texts.get(place, value)
        if not isinstance(text, str) or not text.strip():
            self.document.add(place, f"found {shown(value)}, {_FORMS}")
            return None
        return self._folder_entry(place, place, BotReference(bot=text))

    def reference(self, place: Place) -> Candidate | None:
        """Return the entry at a place that names a folder, or None after reporting its problems."""
        entry = read(BotReference, self.document, place)
        return None if entry is None else self._folder_entry(place, (*place, "bot"), entry)

    def _folder_entry(self, place: Place, at: Place, entry: BotReference) -> Candidate | None:
        folder = self._folder(at, entry.bot)
        if folder is None:
            return None
        found = self._manifest(at, folder)
        if found is None:
            return None
        document, manifest = found
        named = (*place, "name") if entry.name else place
        entrant = self._entrant(place, manifest, folder, entry.name or manifest.name, entry)
        return Candidate(place, entrant, named, tuple(_broken(entrant, document, ())))

    def _inline(self, place: Place) -> Candidate | None:
        entry = read(InlineBot, self.document, place, known=("bot",))
        if entry is None:
            return None
        folder = None
        if entry.cwd is not None:
            folder = self._folder((*place, "cwd"), entry.cwd)
            if folder is None:
                return None
        entrant = self._entrant(place, entry, folder, entry.name, entry)
        broken = tuple(_broken(entrant, self.document, place))
        return Candidate(place, entrant, (*place, "name"), broken)

    def _entrant(
        self,
        place: Place,
        manifest: BotManifest,
        folder: FilePath | None,
        name: str,
        granted: BotGrants,
    ) -> Entrant:
        passed = () if isinstance(granted.env, dict) else granted.env
        return Entrant(
            number=0,
            name=name,
            folder=folder,
            command=manifest.command,
            build=manifest.build,
            language=manifest.language,
            author=manifest.author,
            games=manifest.games,
            env=granted.env if isinstance(granted.env, dict) else {},
            trusted=granted.trusted,
            team=granted.team,
            reference=granted.reference,
            time=granted.time,
            anchor=granted.anchor,
            rights=Rights(
                network=granted.network,
                devices=tuple(self._devices(place, granted)),
                data=tuple(self._paths(place, "data", granted.data, _DATA)),
                tools=tuple(self._tools(place, granted)),
                env=tuple(self._passed(place, passed)),
            ),
        )

    def _devices(self, place: Place, granted: BotGrants) -> Iterator[str]:
        for index, device in enumerate(granted.devices):
            if not device.startswith("/dev/") or not os.path.exists(device):  # noqa: PTH110 - as above
                self.document.add(
                    (*place, "devices", index),
                    f"found {shown(device)}, expected a device that is there, such as /dev/dri",
                )
            yield device

    def _paths(
        self, place: Place, key: str, texts: tuple[str, ...], expected: str
    ) -> Iterator[str]:
        """Yield paths that an entry grants, absolute; note those that are not there."""
        for index, text in enumerate(texts):
            path = str(resolved(self.base, text))
            if not os.path.exists(path):  # noqa: PTH110 - as above
                self.document.add(
                    (*place, key, index),
                    f"found {shown(text)}, which is not there, expected {expected}",
                )
            yield path

    def _tools(self, place: Place, granted: BotGrants) -> Iterator[str]:
        """Yield the folders of programs that an entry grants, absolute."""
        for index, path in enumerate(self._paths(place, "tools", granted.tools, _TOOLS)):
            if is_crowded(path):
                self.document.add(
                    (*place, "tools", index),
                    f"found {shown(granted.tools[index])}, a home or system folder, expected the "
                    "folder of an installation: the bot sees all that is in it",
                )
            yield path

    def _passed(self, place: Place, names: tuple[str, ...]) -> Iterator[str]:
        for index, name in enumerate(names):
            if name not in os.environ:
                self.document.add(
                    (*place, "env", index),
                    f"found {shown(name)}, which is not set here, expected the name of a variable"
                    " of your own environment",
                )
            yield name

    def _folder(self, place: Place, text: str) -> FilePath | None:
        """Return the absolute path of a bot's folder, or None after reporting the problem."""
        path = resolved(self.base, text)
        if not os.path.isdir(path):  # noqa: PTH112 - unlike Path's, it takes names that are too long
            self.document.add(place, no_folder(self.base, text))
            return None
        home = resolved(self.base, "~")
        if path == home or path in home.parents:
            self.document.add(
                place,
                f"found {shown(text)}, a home or system folder, expected the bot's own: all that "
                "is in it is copied",
            )
            return None
        return path

    def _manifest(self, place: Place, folder: FilePath) -> tuple[Document, BotManifest] | None:
        """Return a folder's ``bot.yaml``, or None after reporting its problems."""
        if folder not in self._manifests:
            self._manifests[folder] = self._read_manifest(place, folder)
        return self._manifests[folder]

    def _read_manifest(self, place: Place, folder: FilePath) -> tuple[Document, BotManifest] | None:
        path = folder / MANIFEST
        if not os.path.lexists(path):
            self.document.add(
                place,
                f"there is no {MANIFEST} in {escaped(_display(folder), 500)}, expected one with "
                "name and command",
            )
            return None
        document = load_document(path, _display(path), self.document.problems, trusted=False)
        if document is None:
            return None
        manifest = read(BotManifest, document, (), hints=_ORGANISERS_HINTS)
        return None if manifest is None else (document, manifest)


def _display(path: FilePath) -> str:
    """Return a path for messages, relative to the working directory if it is below that."""
    here = FilePath.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _broken(entrant: Entrant, document: Document, place: Place) -> Iterator[Problem]:
    """Yield the problems that keep an entrant from running on this machine.

    Args:
        entrant: The entrant.
        document: The document with its command.
        place: The place of the entry there.
    """

    def problem(key: str, word: str, why: str) -> Problem:
        at = (*place, key)
        return Problem(document.file, document.mark(at), at, f"found {shown(word)}, {why}")

    search, rights = entrant.env.get("PATH"), entrant.rights
    command = expanded(entrant.command)
    built = bool(entrant.build)
    why = missing_program(command[0], entrant.folder, rights, search, built=built)
    if why:
        yield problem("command", command[0], why)
    missing = None if why or built else missing_file(command, entrant.folder, rights)
    if missing:
        yield problem("command", *missing)
    for number, step in enumerate(entrant.build or ()):
        program = expanded(step)[0]
        why = missing_program(program, entrant.folder, rights, built=number > 0)
        if why:
            yield problem("build", program, why)
