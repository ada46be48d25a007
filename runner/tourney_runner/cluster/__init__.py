"""Play on several machines: an engine for `run.executor` on top of Dask distributed."""
