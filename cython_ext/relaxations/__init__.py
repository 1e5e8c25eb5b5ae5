"""Graphs without an exact oracle: the local polytope, and soft constraints (Meshi, Srebro and Hazan 2015)."""
