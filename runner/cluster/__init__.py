"""Play on several machines: an engine for `runner.run.executor` on top of Dask distributed."""
