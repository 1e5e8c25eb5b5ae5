"""One label, or a sequence of them."""
