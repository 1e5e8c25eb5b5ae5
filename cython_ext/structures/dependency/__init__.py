"""Dependency trees over the words of a sentence."""
