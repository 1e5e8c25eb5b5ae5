"""Sparse attributes of single inputs and of the tokens of sequences, and transitions."""
