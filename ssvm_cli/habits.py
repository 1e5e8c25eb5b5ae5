"""What fingers that know other programs type by themselves, and what it is called here."""

import os
import re

MODEL = 'the second argument, MODEL,'

# command -> option that ssvm does not have -> (program, what it is here, what some of its values are here).
HABITS = {
    'train': {
        '-t': [
            (
                'svm_struct',
                '--kernel linear, poly or rbf',
                {'0': '--kernel linear', '1': '--kernel poly', '2': '--kernel rbf'},
            )
        ],
        '-d': [('svm_struct', '--degree N', {})],
        '-g': [('svm_struct', '--gamma GAMMA', {})],
        '-s': [
            ('svm_struct', '--gamma GAMMA', {}),
            (
                'liblinear',
                '--objective, and --solver if need be',
                {
                    **dict.fromkeys('07', '--objective log'),
                    **dict.fromkeys('12', '--objective hinge --slack-norm 2'),
                    **dict.fromkeys('34', '--objective hinge'),
                },
            ),
        ],
        '-r': [('svm_struct', '--coef0 COEF0', {})],
        '-w': [
            (
                'svm_struct',
                '--solver n-slack or one-slack',
                {
                    **dict.fromkeys('01', '--solver n-slack'),
                    **dict.fromkeys('234', '--solver one-slack'),
                },
            )
        ],
        '-k': [('svm_struct', '--set every=N (of --solver n-slack)', {})],
        '-#': [('svm_struct', '--max-passes N (which bounds the whole run)', {})],
        '-m': [
            ('svm_struct', '--kernel-cache MB', {}),
            ('crf_learn', '--max-passes N', {}),
            ('crfsuite', MODEL, {}),
        ],
        '-f': [
            ('crf_learn', '--min-freq N', {}),
            ('svm_struct', '--set cache=N (of --solver one-slack)', {}),
        ],
        '-a': [
            (
                'crfsuite',
                '--objective and --solver',
                {
                    'lbfgs': '--objective log --solver lbfgs',
                    'l2sgd': '--objective log --solver sgd',
                    'ap': '--solver perceptron',
                },
            ),
            ('crf_learn', '--objective log or hinge', {'CRF-L2': '--objective log', 'CRF': '--objective log'}),
        ],
        '-B': [('liblinear', '--bias', {})],
        '--t': [('svm_hmm', '--order 1 or 2', {'1': '--order 1', '2': '--order 2'})],
        '--e': [('svm_hmm', '--edge-features for an order of 1, and nothing for 0,', {})],
        '--maxiter': [('crf_learn', '--max-passes N', {})],
        '--freq': [('crf_learn', '--min-freq N', {})],
        '--thread': [('crf_learn', '--threads N', {})],
        '--textmodel': [('crf_learn', 'ssvm convert MODEL MODEL.tsv', {})],
    },
    'predict': {
        '-m': [('crf_test and crfsuite', MODEL, {})],
        '-t': [('crfsuite', '--evaluate', {})],
        '-p': [('crfsuite', '--scores', {})],
        '-i': [('crfsuite', '--marginals', {})],
        '-n': [('crf_test', '--nbest K', {})],
        '-o': [('crf_test', 'the third argument, OUTPUT,', {})],
    },
}

# `-p NAME=VALUE` of crfsuite.
PARAMETERS = {
    'c1': 'missing: --lambda, of the squared weights, is the only penalty',
    'c2': '--lambda, with 2 c2/n for n examples',
    'max_iterations': '--max-passes',
    'feature.minfreq': '--min-freq',
    'feature.possible_states': '--feature-set all',
    'feature.possible_transitions': '--feature-set all',
    'epsilon': '--rel-gap, a duality gap',
    'delta': '--rel-gap, a duality gap',
}


# Subcommands of other programs.
SUBCOMMANDS = {'learn': 'train', 'classify': 'predict', 'tag': 'predict', 'dump': 'convert'}

TEMPLATE_LINE = re.compile(rb'^U.*%x\[-?\d+,\d+\]', re.MULTILINE)


def hint(command, option, args):
    """A sentence about what another program's option is called here; '' for one that none has.

    Args:
        command: name of the subcommand.
        option: the option that it does not have.
        args: the command line, to find the option's value in.
    """
    value = _value_of(option, args)
    meanings = HABITS.get(command, {}).get(option, ())
    known = any(value in values for _, _, values in meanings)
    said = ''
    for program, ours, values in meanings:
        if value in values:
            said += f" {program}'s {option} {value} is {values[value]} here."
        elif not (known and values):  # another value of a program that has not been used
            said += f" {program}'s {option} is {ours} here."
    return said


def parameter_hint(text):
    """The same for the value of -p: NAME=VALUE of crfsuite, or a number of threads of crf_learn."""
    if text.isdigit():
        return " crf_learn's -p is --threads N here."
    ours = PARAMETERS.get(text.partition('=')[0])
    return f" crfsuite's -p {text} is {ours} here." if ours else ''


def argument_hint(first):
    """The same where there is an argument too many: the first one may be the template of crf_learn."""
    if not os.path.isfile(first) or not os.access(first, os.R_OK):
        return ''
    with open(first, 'rb') as stream:
        found = TEMPLATE_LINE.search(stream.read(1 << 16))
    return f" {first} is a template, and crf_learn's first argument is --template FILE here." if found else ''


def one_dash(args, names):
    """The first word that is a long option with a dash too few, and that option; None where there is none."""
    for word in args:
        if word == '--':
            break
        option = '-' + word.partition('=')[0]
        if option in names and len(option) > len('--x'):
            return option[1:], option
    return None


def _value_of(option, args):
    """What stands behind an option, in a word of its own or in the same; None if nothing does."""
    for word, after in zip(args, [*args[1:], None], strict=True):
        if word == option:
            return after
        if word.startswith(option):
            return word[len(option) :]
    return None
