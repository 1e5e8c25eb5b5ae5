"""What a parser says about text it cannot take; the file's name is added by whoever opened it."""


class TextError(ValueError):
    """Line number, what is wrong in it, and what was expected."""

    def __init__(self, line, what, expected=None):
        super().__init__(line, what, expected)
        self.line = line
        self.what = what
        self.expected = expected


def shown(text, limit=40):
    """A piece of a file, quoted for a message: control characters escaped, cut after `limit` characters."""
    if isinstance(text, bytes):
        text = text.decode('utf-8', 'backslashreplace')
    return repr(text if len(text) <= limit else text[:limit] + '...')
