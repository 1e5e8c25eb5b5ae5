"""What --scale may divide the values of each attribute by (scaling.py); a module that loads nothing else."""

NONE = 'none'
# Each as it goes on behind 'divided by'.
SCALES = {
    'max': 'the largest absolute value of each attribute',
    'std': 'the root mean square of each attribute where it is not zero',
}
