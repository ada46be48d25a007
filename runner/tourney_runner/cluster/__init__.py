"""An executor that plays on several machines, on top of Dask distributed.

Tasks enter, outcomes leave. Before that the bots are sent to each host, and staged and tried out
there.
"""
