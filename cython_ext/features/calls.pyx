"""The calls of feature maps and their helpers for Python, an example at a time: tests and own experiments use them."""

import numpy as np

from libc.stdint cimport int32_t

from cython_ext.features.accumulators cimport Accumulator
from cython_ext.features.capabilities cimport Step
from cython_ext.features.feature_map cimport FeatureMap
from cython_ext.structures.structure import padded


def scores_of(FeatureMap features not None, Py_ssize_t i, const double[::1] w):
    """theta_i(w), float64[m_i]."""
    theta = np.empty(features.num_parts(i) + 1)
    cdef double[::1] view = theta, weights = padded(w)
    features.scores(i, &weights[0], &view[0])
    return theta[:features.num_parts(i)]


def adjoint(FeatureMap features not None, Py_ssize_t i, const double[::1] a):
    """Phi_i a, float64[dim]."""
    w = padded(features.zeros())
    cdef double[::1] view = w, values = padded(a)
    features.add(i, &values[0], 1.0, &view[0])
    return w[:features.dim]


def add_parts_to(FeatureMap features not None, double[::1] w, Py_ssize_t i, const int32_t[::1] ids,
                 const double[::1] a):
    """w += Phi_i a for a sparse a, in place."""
    if len(ids) and len(w):
        features.add_parts(i, len(ids), &ids[0], &a[0], 1.0, &w[0])


def gram_of(FeatureMap features not None, Py_ssize_t i, const double[::1] a):
    """Phi_i' Phi_i a by gram_parts, float64[m_i]."""
    out = np.zeros(features.num_parts(i))
    cdef int32_t[::1] ids = np.flatnonzero(a).astype(np.int32)
    cdef double[::1] view = out, values = np.asarray(a)[np.asarray(ids)]
    if len(ids):
        features.gram_parts(i, len(ids), &ids[0], &values[0], &view[0])
    return out


def norm2_of(FeatureMap features not None, Py_ssize_t i, const double[::1] a):
    """|| Phi_i a ||^2."""
    cdef double[::1] values = padded(a)
    return features.norm2(i, &values[0])


def step(FeatureMap features not None, double[::1] w, Py_ssize_t i, const double[::1] a, double scale):
    """w += scale * Phi_i a by the map's Step, in place; returns the squared norm that it is prepared with."""
    cdef Step made = features.helper(Step)
    cdef double[::1] values = padded(a)
    norm2 = made.prepare(i, &values[0])
    if len(w):
        made.apply(i, &values[0], scale, &w[0])
    return norm2


def put(Accumulator total not None, Py_ssize_t chunk, Py_ssize_t i, const double[::1] a):
    """Phi_i a into a chunk of a sum."""
    cdef double[::1] values = padded(a)
    total.put(chunk, i, &values[0])
