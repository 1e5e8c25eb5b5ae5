"""Boxes in pictures, found by branch and bound."""
