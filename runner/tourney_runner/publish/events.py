"""The log of what happened in a tournament, for the organiser's command and for the Atom feed.

Most events follow from the stored record, rulings and void deals. So an event that a killed run did
not log is found by the next one, under the same id. Only the ends of failed runs and the changes of
a season's table are logged directly.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import msgspec

from tourney_runner.atomic_write import write_whole
from tourney_runner.play.seeds import seed_hash
from tourney_runner.text import counted, listed, utc_now, without_controls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tourney_runner.results.records import Decision
    from tourney_runner.results.store import Store

__all__ = [
    "FEED",
    "Event",
    "all_events",
    "atom_feed",
    "delivered",
    "log_events",
    "make_event",
    "write_feed",
]

FEED = "feed.xml"
"""The file name of the feed in a site."""
_LOG = "events"
"""The key of the stored log."""
_DELIVERED = "events-delivered"
"""The key of the ids of events that the organiser's command has taken."""
_IN_FEED = 50
"""Entries of the feed, which are the latest events."""
_MOST = 2000
"""Events that are stored; older ones are dropped."""
_NAMED = 5
"""Bots that a sentence names."""


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in a tournament."""

    id: str
    """A UUID, the same each time that the event is given to a command."""
    event: str
    """``started``, ``joined``, ``finished``, ``closed``, ``disqualified``, ``withdrawn``,
    ``benched``, ``reinstated``, ``void``, ``time-limits``, ``changed``, ``interrupted`` or
    ``failed``."""
    at: str
    """ISO 8601 in UTC."""
    tournament: str
    text: str
    """One or more lines for people, without control characters."""
    bots: tuple[str, ...] = ()
    """The bots that it concerns."""
    details: dict[str, Any] = {}


def make_event(store: Store, kind: str, at: str | None, text: str, **fields: Any) -> Event:
    """Return an event of a tournament; the same arguments give the same id.

    Args:
        store: The results.
        kind: See `Event.event`.
        at: See `Event.at`; None for now, which does not influence the id.
        text: See `Event.text`.
        fields: The other fields of the event.
    """
    record = store.about()
    parts = [seed_hash(record.seed.master), record.began or "", kind, at or "", text]
    key = "\0".join([*parts, *fields.get("bots", ())])
    return Event(
        id=str(uuid.uuid5(uuid.NAMESPACE_OID, key)),
        event=kind,
        at=at or utc_now(),
        tournament=record.name,
        text="\n".join(map(without_controls, text.split("\n"))),
        **fields,
    )


def all_events(store: Store) -> list[Event]:
    """Return the logged events and those that are not logged yet, oldest first."""
    logged = _logged(store)
    known = {event.id for event in logged}
    joined = {bot for event in logged if event.event in {"started", "joined"} for bot in event.bots}
    new = [event for event in _derived(store, joined) if event.id not in known]
    return sorted([*logged, *new], key=lambda event: event.at)


def log_events(store: Store, *more: Event) -> list[Event]:
    """Log all events that are not logged yet; return the log.

    Args:
        store: The results, open for writing; nothing is logged before a tournament was begun.
        more: Events that do not follow from the stored results.
    """
    if store.tournament_if_begun() is None:
        return []
    events = all_events(store)
    known = {event.id for event in events}
    events += [event for event in more if event.id not in known]
    events = events[-_MOST:]
    if events != _logged(store):
        store.keep_note(_LOG, msgspec.to_builtins(events))
    return events


def delivered(store: Store, ids: Iterable[str] | None = None) -> frozenset[str] | None:
    """Return the ids of events that were delivered; None if no command was configured so far.

    Args:
        store: The results.
        ids: The ids to store instead; they are cut to those of logged events.
    """
    if ids is not None:
        logged = {event.id for event in _logged(store)}
        store.keep_note(_DELIVERED, sorted(logged.intersection(ids)))
    kept = store.note(_DELIVERED)
    return None if kept is None else frozenset(kept)


def _logged(store: Store) -> list[Event]:
    return msgspec.convert(store.note(_LOG) or [], list[Event])


def _derived(store: Store, joined: set[str]) -> Iterator[Event]:
    """Yield the events that follow from the stored results.

    Args:
        store: The results.
        joined: The bots of logged events.
    """
    record = store.about()
    names = record.names
    if not joined:
        text = f"{record.name} has started with {counted(len(names), 'bot')}"
        yield make_event(store, "started", record.began, text, bots=names)
    elif late := tuple(name for name in names if name not in joined):
        verb = "joins" if len(late) == 1 else "join"
        yield make_event(store, "joined", None, f"{_named(late)} {verb}", bots=late)
    for decision in store.decisions():
        yield from _of_decision(store, decision, names[decision.entrant])
    voids: dict[tuple[str, str], int] = {}
    for void in store.voids():
        voids[void.at, void.reason] = voids.get((void.at, void.reason), 0) + 1
    for (at, reason), count in voids.items():
        what = counted(count, "deal is", "deals are")
        yield make_event(store, "void", at, f"{what} void and played again: {reason}")
    for change in record.time_changes:
        text = f"{record.described(change)}: {change.reason}"
        yield make_event(store, "time-limits", change.at, text)
    if record.complete and record.ended:
        deals = counted(store.count(), "deal")
        text = f"{record.name} is played to its end, with {deals}"
        yield make_event(store, "finished", record.ended, text, details={"deals": store.count()})
    if record.closed is not None:
        yield make_event(store, "closed", record.closed, f"{record.name} is closed")


def _of_decision(store: Store, decision: Decision, name: str) -> Iterator[Event]:
    since = f" from {decision.since} on" if decision.since else ""
    text = f"{name} is {decision.kind}{since}: {decision.reason}"
    yield make_event(store, decision.kind, decision.at, text, bots=(name,))
    if decision.undone is not None:
        back = f"{name} is no longer {decision.kind}"
        yield make_event(store, "reinstated", decision.undone, back, bots=(name,))


def _named(names: tuple[str, ...]) -> str:
    if len(names) <= _NAMED:
        return listed(names, "and")
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"


def atom_feed(events: list[Event], title: str, author: str, url: str | None) -> str:
    """Return the latest events as an Atom feed (RFC 4287), the newest first.

    Args:
        events: The events, oldest first.
        title: The title of the feed.
        author: The author of the entries.
        url: The address of the site, with a slash at its end; None if it is not known. Links are
            relative then.
    """
    first = events[0].id if events else str(uuid.uuid5(uuid.NAMESPACE_OID, title))
    updated = events[-1].at if events else utc_now()
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>urn:uuid:{uuid.uuid5(uuid.UUID(first), 'feed')}</id>",
        f"<title>{_xml(title)}</title>",
        f"<updated>{_xml(updated)}</updated>",
        f"<author><name>{_xml(author)}</name></author>",
        f'<link rel="alternate" href={quoteattr((url or "") + "index.html")}/>',
        f'<link rel="self" href={quoteattr((url or "") + FEED)}/>',
    ]
    for event in reversed(events[-_IN_FEED:]):
        headline, _, rest = event.text.partition("\n")
        lines += [
            "<entry>",
            f"<id>urn:uuid:{event.id}</id>",
            f"<title>{_xml(headline)}</title>",
            f"<updated>{_xml(event.at)}</updated>",
            f'<category term="{_xml(event.event)}"/>',
            f'<link rel="alternate" href={quoteattr((url or "") + "index.html")}/>',
            f'<content type="text">{_xml(event.text if rest else headline)}</content>',
            "</entry>",
        ]
    return "\n".join([*lines, "</feed>"]) + "\n"


def _xml(text: str) -> str:
    """Return text that is safe in XML 1.0, which excludes most control characters."""
    kept = "".join(c for c in text if c == "\n" or (c >= " " and not "\ud800" <= c <= "\udfff"))
    return escape(kept.replace("\ufffe", "").replace("\uffff", ""))


def write_feed(folder: Path, store: Store, title: str, url: str | None) -> None:
    """Write the feed into a site.

    Raises:
        RunError: The disk fails.
    """
    write_whole(folder / FEED, atom_feed(all_events(store), title, "tourney", url))
