"""Solvers that bound the objective from below by planes, and solve what is left of it."""
