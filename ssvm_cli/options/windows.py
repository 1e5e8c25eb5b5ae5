"""--window and --edge-features: which formats they are for."""

from data_formats.errors import UsageError
from data_formats.formats.registry import offering, offers

TEMPLATE_LINES = {'--window': 'U lines such as U1:%x[-1,0]', '--edge-features': 'B lines such as B1:%x[0,0]'}


def check_neighbours(module, window, edge_features=False):
    """Raise UsageError where they make no sense for the module of a format."""
    given = ['--window'] * bool(window) + ['--edge-features'] * edge_features
    if not given or offers(module, 'NEIGHBOURS'):
        return
    if module.NAME == 'conll':
        raise UsageError(f'{given[0]}: of CoNLL columns a --template makes them, with {TEMPLATE_LINES[given[0]]}')
    fit = ' or '.join(offering('NEIGHBOURS'))
    raise UsageError(f'{given[0]} is for sequences with ready-made attributes, not for {module.NAME} (expected {fit})')
