"""Alignments of two sequences."""
