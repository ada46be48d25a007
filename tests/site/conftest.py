from __future__ import annotations

from site_fixtures import big_results, big_site, browser, look, results, site, windows

__all__ = ["big_results", "big_site", "browser", "look", "results", "site", "windows"]
