"""Solvers that move dual variables: of one example at a time, or of all at once."""
