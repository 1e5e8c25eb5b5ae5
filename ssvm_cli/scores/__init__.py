"""Scores of predictions, by the noun of the task."""
