from __future__ import annotations

from cluster_fixtures import arena, cluster, shared_cluster

__all__ = ["arena", "cluster", "shared_cluster"]
