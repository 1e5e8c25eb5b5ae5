"""Feature templates over columns."""
