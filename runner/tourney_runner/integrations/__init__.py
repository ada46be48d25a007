"""Games and environments of other libraries, each behind an extra of its own.

A name such as ``openspiel/tic_tac_toe`` enters; a `Game` leaves. Nothing here is imported before
such a name is asked for.
"""
