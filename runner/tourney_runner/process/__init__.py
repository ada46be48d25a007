"""Start and end bot processes, exchange lines with them under a deadline, and confine them.

A launcher turns a `Program` into a `Child`. A `Channel` writes requests to it and reads answers.
A `Clock` decides how much time is charged. Ending a child ends all processes that it started.
"""
