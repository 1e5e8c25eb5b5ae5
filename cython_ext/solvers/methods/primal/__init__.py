"""Solvers that move the weights alone."""
