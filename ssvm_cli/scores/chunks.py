"""Labels that are tags of chunks: a letter for the place in the chunk, and its type.

IOB1, IOB2, IOBES, BILOU, BMES, BMEWO    B-PER, B_PER, PER-B, PER_B, or the letter alone; O is outside
"""

import re

from data_formats.errors import shown

OUTSIDE, BEGIN, INSIDE, END, SINGLE = range(5)
SCHEMES = ('BIES', 'BILU', 'BMES', 'BMEW')
ROLES = {'O': OUTSIDE, 'B': BEGIN, **dict.fromkeys('IM', INSIDE), **dict.fromkeys('EL', END)}
ROLES |= dict.fromkeys('SUW', SINGLE)
PREFIXED = re.compile(r'(?P<letter>[A-Za-z])(?P<separator>[^A-Za-z0-9\s])(?P<type>.+)', re.DOTALL)
SUFFIXED = re.compile(r'(?P<type>.+)(?P<separator>[^A-Za-z0-9\s])(?P<letter>[A-Za-z])', re.DOTALL)


class ChunkTags:
    """How tags are made of letters and types.

    separator : between the two
    last : the letter stands behind the type
    """

    def __init__(self, separator='-', last=False):
        self.separator, self.last = separator, last

    def parts(self, name):
        """(letter, type) of a label; the type is '' where there is none."""
        if self.last:
            kind, found, letter = name.rpartition(self.separator)
            return (letter, kind) if found else (name, '')
        letter, _, kind = name.partition(self.separator)
        return letter, kind

    def role(self, name):
        """(place in a chunk, type) of a label; what is no tag is inside of a chunk."""
        letter, kind = self.parts(name)
        return ROLES.get(letter, INSIDE), kind

    def strangers(self, names):
        """Those names that are no tags: neither O nor a letter with a type or without."""
        return [name for name in names if name != 'O' and not self._is_tag(name)]

    def fits(self, names):
        """Whether names are tags of one of the schemes."""
        if self.strangers(names):
            return False
        letters = {letter for letter, _ in map(self.parts, names)} - {'O'}
        if not any(letters.issubset(scheme) for scheme in SCHEMES):
            return False
        if any(kind for _, kind in map(self.parts, names)):
            # other names are made like these too: there they have a beginning
            return (self.separator, self.last) == ('-', False) or 'B' in letters
        roles = {ROLES[letter] for letter in letters}
        return bool({'B', 'I'} & letters) if 'O' in names else {BEGIN, END, SINGLE} <= roles

    def _is_tag(self, name):
        letter, kind = self.parts(name)
        return letter in ROLES and letter != 'O' and (bool(kind) or name == letter)


FORMS = tuple(ChunkTags(separator, last) for last in (False, True) for separator in '-_')


def chunk_tags(names):
    """The ChunkTags that label names are made by, None where they are no tags of chunks."""
    names = list(names)
    return next((form for form in FORMS if form.fits(names)), None)


def near_miss(names):
    """What to say of names that are no tags of chunks but look like some: among them are a beginning and an inside of
    one type. None where nothing does."""
    letters = {}  # form and type -> letter -> name
    for name in names:
        for last, pattern in ((False, PREFIXED), (True, SUFFIXED)):
            if match := pattern.fullmatch(name):
                key = match['separator'], last, match['type']
                letters.setdefault(key, {})[match['letter'].upper()] = name
    alike = (
        (*form, tags['B']) for (*form, _), tags in letters.items() if 'B' in tags and not tags.keys().isdisjoint('IMEL')
    )
    separator, last, tag = next(alike, (None, None, None))
    if tag is None:
        return None
    strangers = ChunkTags(separator, last).strangers(names)
    known = strangers and tag not in strangers and separator in '-_'
    reason = f', but {shown(strangers[0])} is none' if known else ' of a scheme that is not known'
    return f'labels such as {shown(tag)} look like tags of chunks{reason}: not scored as chunks'
