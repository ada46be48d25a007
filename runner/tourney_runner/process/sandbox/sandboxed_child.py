"""The common parts of confined children, for all sandboxes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tourney_runner.process.child import Child
from tourney_runner.process.sandbox.users import check_readable, lend, take_back

if TYPE_CHECKING:
    from collections.abc import Callable

    from tourney_runner.process.sandbox.users import Identities

__all__ = ["ConfinedChild", "start_for"]


@dataclass
class ConfinedChild(Child):
    """A child behind a wrapper."""

    loan: ExitStack | None = None
    """Releases its user, and takes back the folder lent to a build's user."""

    def _sweep(self) -> None:
        super()._sweep()
        if self.loan is not None:
            self.loan.close()


def start_for(
    users: Identities | None,
    folder: str,
    *,
    builds: bool,
    start: Callable[[int | None], ConfinedChild],
) -> ConfinedChild:
    """Start a program as its own user, who also owns the folder during a build.

    Args:
        users: The source of users. The user is returned when the whole program is gone. None
            keeps the current user.
        folder: The bot's folder.
        builds: Whether the program writes to the folder.
        start: Starts the program as that user.

    Raises:
        PermissionError: The user could not read the folder.
        RunError: There is no user left.
    """
    if users is None:
        return start(None)
    if not builds:
        check_readable(folder)
    with ExitStack() as loan:
        user = loan.enter_context(users.user())
        if builds:
            loan.callback(take_back, folder)
            lend(folder, user)
        child = start(user)
        child.loan = loan.pop_all()
    return child
