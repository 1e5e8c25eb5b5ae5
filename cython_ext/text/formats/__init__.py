"""The parsers, a file for each format or family of formats."""
