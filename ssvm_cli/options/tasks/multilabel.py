"""Options of sets of labels, which have those of graphs too."""

from functools import partial

from ssvm_cli.options.click_types import option

graphs = partial(option, section='Graphs (multilabel, graph)', of='multilabel')

OPTIONS = (
    graphs(
        '--pairs',
        default='all',
        show_default=True,
        metavar='[all|tree|none|FILE]',
        help='Label sets: which pairs of labels have weights. tree: those of the tree with the most mutual information '
        'in TRAIN (Chow-Liu); none: every label by itself; FILE: two labels a line, separated by a tab. tree and none '
        'are exact and fast with hundreds of labels.',
    ),
)
