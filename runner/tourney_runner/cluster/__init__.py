"""Play on several machines: an engine for `tourney_runner.run.executor` on top of Dask distributed."""
