"""A YAML file as plain values, with the position and the written text of each.

The tree is built from the parser's events, not by a YAML constructor: no tag creates an object,
no alias is expanded before its size is known, nothing recurses deeper than `DEEPEST`, and a
scalar keeps its text. Plain scalars are read as YAML 1.2 does, so ``no``, ``on``, ``12:30`` and
``010`` stay text; `config.validation` gives the written text to every field that wants text.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from tourney_runner.config.text_file import read_source
from tourney_runner.config.validation import Mark, Path, Problem, Problems
from tourney_runner.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path as FilePath

__all__ = ["Document", "load_document"]

DEEPEST = 40
"""The deepest nesting; a configuration has about five levels."""
LARGEST = 20_000
"""The largest number of values that aliases may add to those that a file has written out."""
_LONGEST_INTEGER = 100
"""The largest number of digits; longer integers stay text."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")


@dataclass
class Document:
    """The content of a file: dicts, lists, texts, numbers, booleans and None."""

    file: str
    """The name of the file in messages."""
    problems: Problems
    data: Any = None
    marks: dict[Path, Mark] = field(default_factory=lambda: {(): Mark(1, 1)})
    """The position of each value."""
    keys: dict[Path, Mark] = field(default_factory=dict)
    """The position of the key of each value in a mapping."""
    texts: dict[Path, str] = field(default_factory=dict)
    """The written text of each scalar without quotes."""

    def get(self, path: Path, default: Any = None) -> Any:
        """Return the value at a path through mappings and lists, or the default."""
        value = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return default
        return value

    def put(self, path: Path, value: Any) -> None:
        """Replace an existing value."""
        self.get(path[:-1])[path[-1]] = value

    def mark(self, path: Path, *, key: bool = False) -> Mark:
        """Return the position of a value, its key, or the nearest value around it."""
        if key and path in self.keys:
            return self.keys[path]
        while path not in self.marks:
            path = path[:-1]
        return self.marks[path]

    def add(self, path: Path, message: str, *, key: bool = False) -> None:
        """Report a problem with the value at a path, or with its key."""
        self.problems.add(Problem(self.file, self.mark(path, key=key), path, message))


def load_document(
    path: FilePath, file: str, problems: Problems, *, trusted: bool = True
) -> Document | None:
    """Read a file.

    Args:
        path: Its path.
        file: Its name in messages.
        problems: Gets every YAML problem of the file.
        trusted: Whether it may be a pipe or a link, as a bot's own file may not.

    Returns:
        The readable part, or None if there is none.
    """
    text = read_source(path, file, problems, trusted=trusted)
    if text is None:
        return None
    document = Document(file, problems)
    try:
        root = _Tree(document).build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        at = error.problem_mark or error.context_mark
        mark = Mark(at.line + 1, at.column + 1) if at else Mark(1, 1)
        message = _syntax(error, text, mark)
        if (line := _line_without_colon(error, text)) is not None:
            mark, message = Mark(line + 1, 1), "a colon is missing here: write key: value"
        problems.add(Problem(file, mark, (), message))
        return None
    except _UnusableError as error:
        problems.add(Problem(file, error.mark, (), error.message))
        return None
    if root is None:
        problems.add(Problem(file, Mark(1, 1), (), "the file is empty, expected key: value lines"))
        return None
    document.data = _expand(root, (), document)
    return document


def _syntax(error: yaml.MarkedYAMLError, text: str, mark: Mark) -> str:
    """Return a syntax error in one line, with a fix for the most common mistakes."""
    message = f"this is not YAML: {error.problem or 'it cannot be read'}"
    if error.context:
        start = error.context_mark
        message += f" {error.context}" + (f" from line {start.line + 1}" if start else "")
    lines = text.splitlines()
    line = lines[mark.line - 1] if mark.line <= len(lines) else ""
    if line[: mark.column].strip(" ") == "\t" or line[mark.column - 1 : mark.column] == "\t":
        return f"{message}; this is a tab: indent with spaces"
    if "',' or" in message:
        return f"{message}; a comma or the closing bracket is missing"
    if ": {" in line:
        return f"{message}; put text that begins with {{ in double quotes"
    return message


_COLON = re.compile(r":(\s|$)")
_STOPPED_LATER = (
    "mapping values are not allowed in this context",
    "did not find expected <document start>",
)
"""Problems that may have their cause in an earlier line."""


def _line_without_colon(error: yaml.MarkedYAMLError, text: str) -> int | None:
    """Return the number, from 0, of a line whose colon is missing, or None.

    The parser takes such a line for text, and reports a later line at which it cannot go on.
    """
    lines = text.splitlines()
    if error.problem == "could not find expected ':'" and error.context_mark:
        number = int(error.context_mark.line)
        return None if _COLON.search(lines[number]) else number
    if error.problem not in _STOPPED_LATER or not error.problem_mark:
        return None
    found = lines[error.problem_mark.line]
    for number in range(error.problem_mark.line - 1, -1, -1):
        line = lines[number].partition("#")[0].rstrip()
        if line.strip():
            level = len(found) - len(found.lstrip()) == len(line) - len(line.lstrip())
            plain = re.match(r"\s*\w", line) and not _COLON.search(line)
            return number if level and plain else None
    return None


class _UnusableError(Exception):
    """An error that makes the whole document unusable."""

    def __init__(self, mark: Mark, message: str) -> None:
        super().__init__(message)
        self.mark = mark
        self.message = message


@dataclass
class _Node:
    """A value as written; through aliases one node can have several places."""

    mark: Mark
    size: int = 1
    """The number of values in it with aliases expanded, computed without expanding them."""
    depth: int = 1
    open: bool = False
    """True if the parser is still inside it."""


@dataclass
class _Scalar(_Node):
    text: str = ""
    plain: bool = True


@dataclass
class _List(_Node):
    items: list[_Node] = field(default_factory=list)


@dataclass
class _Mapping(_Node):
    items: list[tuple[_Scalar, _Node]] = field(default_factory=list)
    key: _Scalar | None = None
    """The key whose value comes next."""


class _Tree:
    """A builder of nodes from events."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._anchors: dict[str, _Node] = {}
        self._open: list[_List | _Mapping] = []
        self._written = 0
        """The number of values so far, without what aliases repeat."""
        self._root: _Node | None = None

    def build(self, events: Iterator[Any]) -> _Node | None:
        """Return the root of the only document, or None if there is none."""
        for event in events:
            match event:
                case yaml.DocumentStartEvent() if self._root is not None:
                    raise _UnusableError(
                        _mark(event), "a second document begins here, expected one in a file"
                    )
                case yaml.AliasEvent():
                    self._attach(self._aliased(event))
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.SequenceStartEvent():
                    self._begin(_List(_mark(event), open=True), event)
                case yaml.MappingStartEvent():
                    self._begin(_Mapping(_mark(event), open=True), event)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    self._end()
                case _:
                    pass
        root = self._root
        return None if isinstance(root, _Scalar) and root.plain and not root.text else root

    def _scalar(self, event: Any) -> None:
        node = _Scalar(_mark(event), text=event.value, plain=event.implicit[0])
        self._written += 1
        self._name(node, event)
        self._attach(node)

    def _begin(self, node: _List | _Mapping, event: Any) -> None:
        self._written += 1
        self._name(node, event)
        self._open.append(node)
        if len(self._open) > DEEPEST:
            raise _UnusableError(node.mark, f"nested more than {DEEPEST} levels deep")

    def _end(self) -> None:
        node = self._open.pop()
        node.open = False
        self._attach(node)

    def _name(self, node: _Node, event: Any) -> None:
        if event.tag not in _TEXT_TAGS:
            self._note(node.mark, f"the tag {shown(event.tag)} is not read, write the value alone")
        if event.anchor is not None:
            self._anchors[event.anchor] = node

    def _aliased(self, event: Any) -> _Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            message = f"the alias {shown(event.anchor)} has no anchor before it"
        elif node.open:
            message = f"the alias {shown(event.anchor)} stands inside what it repeats"
        else:
            return node
        raise _UnusableError(_mark(event), message)

    def _attach(self, node: _Node) -> None:
        if not self._open:
            self._root = node
            return
        parent = self._open[-1]
        parent.size += node.size
        parent.depth = max(parent.depth, node.depth + 1)
        if parent.size > LARGEST + self._written or parent.depth > DEEPEST:
            raise _UnusableError(
                node.mark,
                f"the aliases of the file stand for more than {LARGEST} values or {DEEPEST} levels",
            )
        if isinstance(parent, _List):
            parent.items.append(node)
        elif parent.key is not None:
            parent.items.append((parent.key, node))
            parent.key = None
        elif isinstance(node, _Scalar):
            parent.key = node
        else:
            self._note(node.mark, "a list or a mapping stands where a key belongs, expected text")
            parent.key = _Scalar(node.mark, text="", plain=False)

    def _note(self, mark: Mark, message: str) -> None:
        self._document.problems.add(Problem(self._document.file, mark, (), message))


def _mark(event: Any) -> Mark:
    return Mark(event.start_mark.line + 1, event.start_mark.column + 1)


def _expand(node: _Node, path: Path, document: Document) -> Any:
    """Return the plain value of a node; positions and texts go to the document."""
    document.marks[path] = node.mark
    if isinstance(node, _Scalar):
        if not node.plain:
            return node.text
        document.texts[path] = node.text
        return _value(node.text)
    if isinstance(node, _List):
        return [_expand(item, (*path, index), document) for index, item in enumerate(node.items)]
    if isinstance(node, _Mapping):
        return _mapping(node, path, document)
    raise TypeError(type(node))


def _mapping(node: _Mapping, path: Path, document: Document) -> dict[str, Any]:
    found: dict[str, Any] = {}
    _fill(found, node, path, document)
    return found


def _fill(found: dict[str, Any], node: _Mapping, path: Path, document: Document) -> None:
    """Add the entries of a merged mapping; entries that are there already win."""
    lines: dict[str, int] = {}
    merged: list[_Mapping] = []
    for key, value in node.items:
        at = (*path, key.text)
        if key.plain and key.text == "<<":
            merged += _merged(value, at, document)
        elif key.text in lines:
            message = f"this key is already on line {lines[key.text]}, expected each key once"
            document.problems.add(Problem(document.file, key.mark, at, message))
        else:
            lines[key.text] = key.mark.line
            if key.text not in found:
                document.keys[at] = key.mark
                found[key.text] = _expand(value, at, document)
    for mapping in merged:
        _fill(found, mapping, path, document)


def _merged(node: _Node, path: Path, document: Document) -> list[_Mapping]:
    """Return the mappings that a merge key ``<<`` names."""
    nodes = node.items if isinstance(node, _List) else [node]
    mappings = [item for item in nodes if isinstance(item, _Mapping)]
    if len(mappings) < len(nodes):
        message = "expected an alias of a mapping after '<<'"
        document.problems.add(Problem(document.file, node.mark, path, message))
    return mappings


def _value(text: str) -> Any:
    """Return a plain scalar as YAML 1.2 reads it; numbers that are not finite stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) <= _LONGEST_INTEGER:
        return int(text)
    if _FLOAT.fullmatch(text) and not _INTEGER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text
