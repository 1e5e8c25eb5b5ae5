"""The features of an arc, by what they are made of (McDonald, Crammer and Pereira 2005, table 1).

An atom is a property of the head (h), of the dependent (d) or of a word between them (b): its word (w), its tag (p) or
its coarse tag (c), or that of a neighbour at -1 or +1; `dir` is the direction. A template is some atoms, and a tuple of
their values a feature. An ARC feature counts alone and, as another one, together with direction and distance of the
arc; a tag between counts once. A RELATION feature has a weight for each relation.
"""

ATOMS = (
    *('hw', 'hp', 'hc', 'dw', 'dp', 'dc', 'hp-1', 'hp+1', 'dp-1', 'dp+1', 'hc-1', 'hc+1', 'dc-1', 'dc+1'),
    *('bp', 'bc', 'dir'),
)
MAX_ATOMS = 4  # atoms of a template

ARC = (
    *('hw,hp', 'hw', 'hp', 'dw,dp', 'dw', 'dp'),
    *('hw,hp,dw,dp', 'hp,dw,dp', 'hw,dw,dp', 'hw,hp,dp', 'hw,hp,dw', 'hw,dw', 'hp,dp'),
    *('hp,hp+1,dp-1,dp', 'hp-1,hp,dp-1,dp', 'hp,hp+1,dp,dp+1', 'hp-1,hp,dp,dp+1'),
    *('hc,hc+1,dc-1,dc', 'hc-1,hc,dc-1,dc', 'hc,hc+1,dc,dc+1', 'hc-1,hc,dc,dc+1'),
    *('hp,bp,dp', 'hc,bc,dc'),
)
RELATION = (
    *('hp,dp,dir', 'hw,dp,dir', 'hp,dw,dir', 'hc,dc,dir'),
    *('hw,dir', 'dw,dir', 'dp-1,dp,dp+1', 'hp-1,hp,hp+1,dp'),
)

# direction and distance of an arc: 1..7 where the head is before the dependent, 8..14 where it is after it; 0: neither
DISTANCES = ('1', '2', '3', '4', '5', '6-10', '11+')
BINS = ('', *('>' + distance for distance in DISTANCES), *('<' + distance for distance in DISTANCES))
DIRECTIONS = ('>', '<')

# values of atoms beyond the words and the tags of the data
ROOT, BEGIN, END = '<root>', '<s>', '</s>'


def radix(atom, shape):
    """How many values an atom has; shape: (words, tags) of the data."""
    words, tags = shape
    return 2 if atom == 'dir' else words + 1 if atom[1] == 'w' else tags + 3


def largest_key(templates, shape):
    """A bound of the keys of features: 1 + template + len(templates) (value of the last atom + its radix (...))."""
    largest = 0
    for template in templates:
        size = len(templates) + 1
        for atom in template.split(','):
            size *= radix(atom, shape)
        largest = max(largest, size)
    return largest
