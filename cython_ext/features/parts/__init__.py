"""Weights of the parts of other structures, one by one or by sparse rows."""
