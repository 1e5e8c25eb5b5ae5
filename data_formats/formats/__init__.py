"""The formats of data, a file for each, and the registry that finds them."""
