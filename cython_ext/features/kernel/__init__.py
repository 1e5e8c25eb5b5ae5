"""Kernels between inputs: weights are coefficients of support vectors."""
