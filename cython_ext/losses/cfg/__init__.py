"""Losses of trees."""
