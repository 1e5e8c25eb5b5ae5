"""Files as such: read in blocks, written whole or not at all, locked, compressed; containers, checkpoints and logs."""
