"""The solvers, each by the name that `--solver` has for it."""
