"""The dual variables of the examples: working sets, dense marginals, and the programs over them."""
