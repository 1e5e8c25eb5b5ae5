"""Labelings of factor graphs, by elimination of nodes or by minimum cuts."""
