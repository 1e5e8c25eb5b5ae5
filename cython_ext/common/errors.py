"""What the core says of data that it cannot work with."""


class UnfitDataError(ValueError):
    """The reason is in the values of the data, where a plain ValueError is about what is asked for."""


class InexactError(ArithmeticError):
    """An oracle that promises the best output could not find it."""
