"""The kinds of dual points, each with the value of the dual there."""
