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


# What a terminal would do something for rather than show: control characters of either kind (the second also as single
# bytes, which are no UTF-8), and those that turn the direction of writing.
CONTROLS = (*range(0x20), *range(0x7F, 0xA0), *range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
VISIBLE = {c: f'\\x{c:02x}' if c < 0x100 else f'\\u{c:04x}' for c in CONTROLS}
VISIBLE |= {0xDC00 + c: f'\\x{c:02x}' for c in range(0x80, 0xA0)} | {
    ord('\t'): '\\t',
    ord('\n'): '\\n',
    ord('\r'): '\\r',
}


def visible(text):
    """A text of one line as it may go to a terminal, whatever file it is from: all else is left as it is."""
    return text.translate(VISIBLE)


def visible_lines(text):
    """The same of a text of several lines."""
    return '\n'.join(map(visible, text.split('\n')))
