cdef class Acceleration:
    def __init__(self, problem):
        pass
