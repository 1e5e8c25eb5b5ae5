"""Which pairs of attributes and labels have weights: all, or those that occur in training."""

FEATURE_SETS = ('all', 'observed')
