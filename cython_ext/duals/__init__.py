"""Dual points: a distribution alpha_i over the outputs of each example, and the lower bound D(alpha) that it proves.

A class for each way to write one down (dual_point.py says what they offer), and the list of them in registry.py.
"""
