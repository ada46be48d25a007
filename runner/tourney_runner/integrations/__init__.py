"""Games of other libraries, and our games for other libraries, each behind an extra of its own.

A name such as ``openspiel/tic_tac_toe`` enters and a `Game` leaves, or a bundled game enters and an
environment for learning leaves. Each part is imported only when it is asked for.
"""
