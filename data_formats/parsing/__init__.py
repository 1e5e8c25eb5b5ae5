"""What the formats share, between a parser and a dataset."""
