"""Weights of the factors of graphs, and of sets of labels."""
