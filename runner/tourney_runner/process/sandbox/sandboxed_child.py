"""What confined children have in common, whatever confines them."""

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
    """Gives back its user, and the folder that belongs to a build's user while it runs."""

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
    """Start something as a user of its own, whose a build's folder is meanwhile.

    Args:
        users: Whence the user comes, and goes back when all that was started is gone; None to stay
            who we are.
        folder: The bot's folder.
        builds: Whether it is to be written to.
        start: Starts it as that user.

    Raises:
        PermissionError: The user could not read the folder.
        RunError: There is no user for it.
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
