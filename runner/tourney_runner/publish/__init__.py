"""What a tournament shows: tables in several formats, a page."""
