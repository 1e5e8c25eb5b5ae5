"""Options of other programs that fingers type by themselves, and what they are called here."""

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
        '-s': [('svm_struct', '--gamma GAMMA', {})],
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
    'c2': '--lambda, with 2 c2/n for n examples',
    'max_iterations': '--max-passes',
    'feature.minfreq': '--min-freq',
    'feature.possible_states': '--feature-set all',
    'feature.possible_transitions': '--feature-set all',
    'epsilon': '--rel-gap, a duality gap',
    'delta': '--rel-gap, a duality gap',
}


def hint(command, option, args):
    """A sentence about what another program's option is called here; '' for one that none has.

    Args:
        command: name of the subcommand.
        option: the option that it does not have.
        args: the command line, to find the option's value in.
    """
    value = _value_of(option, args)
    meanings = HABITS.get(command, {}).get(option, ())
    known = [(program, values[value]) for program, _, values in meanings if value in values]
    if known:
        option = f'{option} {value}'
    found = known or [(program, ours) for program, ours, _ in meanings]
    return ''.join(f" {program}'s {option} is {ours} here." for program, ours in found)


def parameter_hint(text):
    """The same for the NAME=VALUE of crfsuite's -p."""
    ours = PARAMETERS.get(text.partition('=')[0])
    return f" crfsuite's -p {text} is {ours} here." if ours else ''


def _value_of(option, args):
    """What stands behind an option, in a word of its own or in the same; None if nothing does."""
    for word, after in zip(args, [*args[1:], None], strict=True):
        if word == option:
            return after
        if word.startswith(option):
            return word[len(option) :]
    return None
