"""The games: an interface, a registry, and one package each."""
