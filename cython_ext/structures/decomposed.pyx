"""DecomposedStructure: outputs whose best score has a dual by messages, the *messages oracle*.

The scores of an output are a sum over factors that have to agree. Messages move score between factors and change the score
of no output; whatever they are, the sum of the factors' own maxima is an upper bound of the best score, and its least
value is the best score of the relaxation (Sontag, Globerson and Jaakkola 2011).
"""

import numpy as np

from libc.stdint cimport int32_t


cdef class DecomposedStructure(Structure):
    """A structure with `messages` among its oracles. Messages of all examples stand one after the other."""

    cdef Py_ssize_t message_begin(self, Py_ssize_t i) noexcept nogil:
        """Where the messages of example i begin; of n, how many there are."""
        return 0

    cdef void reparameterise(self, Py_ssize_t i, const double *messages, double *theta) noexcept nogil:
        """theta as the messages of example i make it."""

    cdef void descend(self, Py_ssize_t i, double temperature, double *messages, double *theta, double *scratch) noexcept nogil:
        """Changes messages and the theta that they have made, block by block, each to the least bound. temperature: of
        smoothed maxima, 0: none."""

    cdef double beliefs(self, Py_ssize_t i, const double *theta, double temperature, double *mean) noexcept nogil:
        """The bound; writes what attains it, a distribution for each factor, which may disagree."""
        return 0.0

    cdef void agreeing(self, Py_ssize_t i, double *mean, double *scratch, int32_t *code) noexcept nogil:
        """Makes beliefs agree, and writes the code of the output that they then are."""

    # The same for Python.

    def messages(self):
        """All messages at 0, float64, and where those of each example begin, int64[n + 1]."""
        begin = np.array([self.message_begin(i) for i in range(self.n + 1)], np.int64)
        return np.zeros(begin[self.n] + 1), begin

    def messages_oracle(self, Py_ssize_t i, theta, double[::1] messages, double temperature=0.0, Py_ssize_t sweeps=1):
        """(bound, beliefs) of scores theta after so many sweeps of descent; messages, of this example, are changed."""
        cdef double[::1] scores = np.append(np.asarray(theta, np.float64), 0.0), mean = np.zeros(len(theta) + 1)
        cdef double[::1] scratch = np.empty(self.scratch_size(1) + 1)
        cdef Py_ssize_t s
        self.reparameterise(i, &messages[0], &scores[0])
        for s in range(sweeps):
            self.descend(i, temperature, &messages[0], &scores[0], &scratch[0])
        bound = self.beliefs(i, &scores[0], temperature, &mean[0])
        return bound, np.asarray(mean)[:len(theta)]

    def agreeing_code(self, Py_ssize_t i, mean):
        """The code of the output that beliefs become when they are made to agree, int32."""
        cdef double[::1] copy = np.append(np.asarray(mean, np.float64), 0.0)
        cdef double[::1] scratch = np.empty(self.scratch_size(1) + 1)
        cdef int32_t[::1] code = np.zeros(self.code_of(i) + 1, np.int32)
        self.agreeing(i, &copy[0], &scratch[0], &code[0])
        return np.asarray(code)[:self.code_of(i)]
