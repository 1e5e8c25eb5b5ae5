"""What fingers that know other programs type by themselves, and what it is called here."""

import os
import re

MODEL = 'the second argument, MODEL,'
ONLY_L2 = 'missing: --lambda, of the squared weights, is the only penalty'
NO_CLASS_WEIGHTS = 'missing (a cost matrix, --task-loss FILE, makes errors on some labels dearer)'
NO_FOLDS = 'missing (--dev FILE scores held-out data)'
NO_REGRESSION = 'missing: outputs are labels and structures, no numbers'
SIGMOID = 'missing: there are --kernel linear, poly and rbf'

# command -> option that ssvm does not have -> (program, what it is here, what some of its values are here).
HABITS = {
    'train': {
        '-t': [
            (
                'svm_struct',
                '--kernel linear, poly or rbf',
                {'0': '--kernel linear', '1': '--kernel poly', '2': '--kernel rbf', '3': SIGMOID, '4': SIGMOID},
            ),
            ('crfsuite', '--order 1, the default,', {'1d': '--order 1, the default,'}),
            ('crf_learn', 'ssvm convert MODEL MODEL.tsv', {}),
            ('wapiti', '--threads N', {}),
        ],
        '-d': [('svm_struct', '--degree N', {}), ('wapiti', '--dev FILE', {})],
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
                    **dict.fromkeys('56', ONLY_L2),
                    **dict.fromkeys(('11', '12', '13'), NO_REGRESSION),
                    '21': 'missing: a class of its own needs others',
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
                    '9': 'missing: an algorithm of its own (--list-solvers shows those that are there)',
                },
            )
        ],
        '-j': [('svm_learn', NO_CLASS_WEIGHTS, {})],
        '-z': [
            (
                'svm_learn',
                '--task',
                {'c': '--task multiclass', 'r': NO_REGRESSION, 'p': '--format svmrank'},
            )
        ],
        '-b': [('svm_learn', '--bias', {}), ('libsvm', '--objective log, whose models have probabilities,', {})],
        '-u': [('svm_struct', 'missing: there are no kernels but --kernel linear, poly and rbf', {})],
        '-y': [('svm_struct', '-v LEVEL', {})],
        '-n': [('liblinear', '--threads N', {}), ('svm_learn', '--set every=N (of --solver n-slack)', {})],
        '-C': [
            ('liblinear', '--lambda-path FROM:TO:FACTOR with --dev FILE', {}),
            ('crf_learn', 'ssvm convert MODEL.tsv MODEL', {}),
        ],
        '-R': [('liblinear', 'nothing: without --bias there is none', {})],
        '-x': [('crfsuite', NO_FOLDS, {})],
        '-L': [('crfsuite', '--log FILE', {})],
        '-H': [('crfsuite', '--list-solvers', {}), ('crf_learn', 'nothing: no example is left out', {})],
        '-T': [
            (
                'wapiti',
                '--task and --objective',
                {
                    'crf': '--objective log',
                    'maxent': '--task multiclass --objective log',
                    'memm': 'missing: --objective log is normalised over whole sequences',
                },
            )
        ],
        '-i': [('wapiti', '--max-passes N', {})],
        '-1': [('wapiti', ONLY_L2, {})],
        '-2': [('wapiti', '--lambda, with RHO2/n for n examples,', {})],
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
                    **dict.fromkeys(('pa', 'arow'), 'missing: --solver perceptron is the nearest'),
                },
            ),
            (
                'crf_learn',
                '--objective log or hinge',
                {
                    **dict.fromkeys(('CRF-L2', 'CRF'), '--objective log'),
                    'CRF-L1': ONLY_L2,
                    'MIRA': 'missing: --objective hinge is the nearest',
                },
            ),
            (
                'wapiti',
                '--objective log and --solver',
                {
                    'l-bfgs': '--objective log --solver lbfgs',
                    'sgd-l1': ONLY_L2,
                    **dict.fromkeys(('bcd', 'rprop'), 'missing: --objective log --solver eg is the nearest'),
                },
            ),
        ],
        '-B': [('liblinear', '--bias', {})],
        '--t': [('svm_hmm', '--order 1 or 2', {'1': '--order 1', '2': '--order 2'})],
        '--b': [('svm_hmm', 'nothing: decoding is exact, without a beam', {})],
        '--maxent': [('wapiti', '--task multiclass', {})],
        '--algo': [('crf_learn', '--objective log or hinge', {}), ('wapiti', '--objective log and --solver', {})],
        '--eta': [('crf_learn', '--rel-gap, a duality gap,', {})],
        '--cost': [('crf_learn', '--lambda, with 1/(n COST) for n examples,', {})],
        '--pattern': [('wapiti', '--template FILE', {})],
        '--devel': [('wapiti', '--dev FILE', {})],
        '--nthread': [('wapiti', '--threads N', {})],
        '--rho1': [('wapiti', ONLY_L2, {})],
        '--rho2': [('wapiti', '--lambda, with RHO2/n for n examples,', {})],
        '--e': [('svm_hmm', '--edge-features for an order of 1, and nothing for 0,', {})],
        '--maxiter': [('crf_learn', '--max-passes N', {})],
        '--freq': [('crf_learn', '--min-freq N', {})],
        '--thread': [('crf_learn', '--threads N', {})],
        '--textmodel': [('crf_learn', 'ssvm convert MODEL MODEL.tsv', {})],
    },
    'predict': {
        '-m': [('crf_test and crfsuite', MODEL, {})],
        '-t': [('crfsuite', '--evaluate', {})],
        '-r': [('crfsuite', 'missing: the right labels of TEST are in TEST', {})],
        '-p': [('crfsuite', '--scores', {}), ('wapiti', '--marginals', {})],
        '-i': [('crfsuite', '--marginals', {})],
        '-l': [('crfsuite', '--marginals', {}), ('wapiti', 'nothing: formats without columns have labels alone', {})],
        '-b': [('liblinear', '--marginals', {'1': '--marginals', '0': 'nothing'})],
        '-c': [('wapiti', '--evaluate', {}), ('crf_test', 'missing: probabilities are those of training', {})],
        '-s': [('wapiti', '--scores', {})],
        '-n': [('crf_test', '--nbest K', {}), ('wapiti', '--nbest K', {})],
        '--post': [('wapiti', '--marginals', {})],
        '--check': [('wapiti', '--evaluate', {})],
        '--score': [('wapiti', '--scores', {})],
        '-o': [('crf_test', 'the third argument, OUTPUT,', {})],
    },
}

# `-p NAME=VALUE` of crfsuite.
PARAMETERS = {
    'c1': ONLY_L2,
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

# `-w1 2` of liblinear and libsvm, the weight of class 1; svm_struct has a blank before the number of its algorithm.
CLASS_WEIGHT = re.compile(r'-w-?\d+')
TEMPLATE_LINE = re.compile(rb'^U.*%x\[-?\d+,\d+\]', re.MULTILINE)


def hint(command, option, args):
    """A sentence about what another program's option is called here; '' for one that none has.

    Args:
        command: name of the subcommand.
        option: the option that it does not have.
        args: the command line, to find the option's value in.
    """
    if command == 'train' and option == '-w':
        for word, after in zip(args, [*args[1:], ''], strict=True):
            if CLASS_WEIGHT.fullmatch(word) and _is_number(after):
                return f" liblinear's {word} {after}, the weight of a class, is {NO_CLASS_WEIGHTS} here."
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


def verbosity_hint(command, value):
    """The same for a -v that is no level: the number of folds that liblinear and libsvm have there."""
    return f" liblinear's -v {value}, cross-validation, is {NO_FOLDS} here." if command == 'train' else ''


def said_of_verbosity(command, args):
    """What is said where `ssvm predict` is given -v1 or -v2 in one word, as crf_test writes it, and means how much to
    say; '' elsewhere."""
    found = [word for word in args[: args.index('--') if '--' in args else None] if word in ('-v1', '-v2')]
    if command != 'predict' or not found:
        return ''
    return f"{found[0]} says how much is said; crf_test's {found[0]}, probabilities, is --marginals here"


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


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value_of(option, args):
    """What stands behind an option, in a word of its own or in the same; None if nothing does."""
    for word, after in zip(args, [*args[1:], None], strict=True):
        if word == option:
            return after
        if word.startswith(option):
            return word[len(option) :]
    return None
