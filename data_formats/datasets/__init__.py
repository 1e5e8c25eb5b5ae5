"""Data in memory, by the noun of the task that learns from them."""
