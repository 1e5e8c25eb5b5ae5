"""Matchings of rows and columns."""
