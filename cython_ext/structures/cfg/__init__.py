"""Trees of a context-free grammar in Chomsky normal form."""
