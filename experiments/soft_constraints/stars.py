"""Fine nodes with coarse stars, the model of the paper on MSRC-21, on made-up pictures (`stars`) and on snakes:
stars.csv has a row for each model of the pictures (pictures.py), with its weights and the fine cells that it gets
wrong, stars-speed.csv one for each method on the stars, as speed.csv has them.
"""

import json
import os
import sys

import figure2
import pictures
import runs

COUNTS = {'train': 335, 'test': 256}  # of made-up pictures, those of MSRC-21
RHOS = ('0.01/n', '0.1/n', '1/n')
RUNS = {
    'tree': ('',), 'lp': ('',), 'soft': RHOS, 'Algorithm 1': ('0.1/n',), 'falling rho': ('1/n:0.01/n:0.1',),
    'multipliers': ('0.1/n',), 'dlpw': ('',),
}  # fmt: skip
EXACT = ('--relaxation', 'none', '--rel-gap', 1e-3)
LOOPS = ('--relaxation', 'soft', '--augmented-lagrangian', '--rho', '{rho}', '--rel-gap', 0.01, '--max-time', 60)
TRAINED = {'alone': EXACT, 'stars': EXACT, 'neighbours': LOOPS, 'tables': LOOPS}
runs.METHODS['tree'] = runs.METHODS['exact']  # stars have no loops: the relaxation is exact
for name in ('stars', 'snakes'):
    runs.TIMES[name] = 1
    runs.LP_LIMITS[name] = ('--rel-gap', 5e-3, '--gap-every', 1, '--max-time', 200)
    runs.LIMITS[name] = ('--rel-gap', 1e-3, '--gap-every', 3, '--max-time', 30)


def drawn(ssvm, name, folder):
    """{'train', 'test': pictures}; FileNotFoundError where snakes are not there."""
    if name == 'stars':
        return {part: pictures.made_up(count, seed) for seed, (part, count) in enumerate(COUNTS.items(), 1)}
    root = os.environ.get('SSVM_DATA') or runs.Path(__file__).resolve().parents[3] / 'shared' / 'data'
    path = runs.Path(root) / 'snakes' / 'snakes.pickle'
    if not path.exists():
        raise FileNotFoundError(f'data set snakes is not there: {path} (SSVM_DATA says where the sets are)')
    return pictures.snakes(ssvm, path, folder / 'classifier')


def prepare(ssvm, name, folder):
    """FOLDER/train.jsonl and test.jsonl with stars, and FOLDER/MODEL/ likewise with the other models."""
    if (folder / 'test.jsonl').exists():
        return
    for part, several in drawn(ssvm, name, folder).items():
        for model in pictures.MODELS:
            path = folder / ('' if model == 'stars' else model) / f'{part}.jsonl'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(''.join(pictures.graph(picture, model) + '\n' for picture in several))


def models(data):
    """A row for each model of the pictures: how many weights it has, and how many fine cells of the test data are
    wrong, in per cent. Those with loops are trained with multipliers and predicted by dual decomposition."""
    rows = []
    for model, words in TRAINED.items():
        folder = data.folder / ('' if model == 'stars' else model)
        rho = runs.number('0.1/n', data.n)
        words = [word.format(rho=rho) if isinstance(word, str) else word for word in words]
        log = data._logged(*words, '--lambda', 1 / data.n, folder / 'train.jsonl', folder / 'model')
        infer = ('--inference', 'dual-decomposition') if words[1] == 'soft' else ()
        data._call('predict', *infer, folder / 'test.jsonl', folder / 'model', folder / 'predicted')
        rows.append({'set': data.name, 'model': model, 'weights': weights_of(folder / 'train.jsonl', model)})
        last = log[-1]
        rows[-1] |= {'primal': round(last.get('relaxed_primal') or last['primal'], 4)}
        rows[-1] |= {'wrong': round(100 * wrong(folder / 'predicted', data.folder / 'alone' / 'test.jsonl'), 2)}
        print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    return rows


def weights_of(path, model):
    """How many weights a model has: one for each class, and those of pairs."""
    with open(path) as lines:
        classes = json.loads(next(lines))['states']
    return classes + {'alone': 0, 'stars': 1, 'neighbours': 1, 'tables': 2 * classes**2}[model]


def wrong(predicted, fine):
    """The share of fine cells, which come first, with another label than the right one."""
    total = errors = 0
    with open(predicted) as found, open(fine) as right:
        for line, truth in zip(found, right, strict=True):
            labels = [str(node['label']) for node in json.loads(truth)['nodes']]
            total += len(labels)
            errors += sum(a != b for a, b in zip(labels, json.loads(line)['prediction'], strict=False))
    return errors / total


def main(arguments):
    given = runs.program.parser(__doc__).parse_args(arguments)
    table, speed = [], []
    for name in ('stars', 'snakes'):
        try:
            prepare(given.ssvm, name, given.folder / name)
        except FileNotFoundError as missing:
            print(f'skipped: {missing}', file=sys.stderr)
            continue
        data = runs.Set(given.ssvm, given.folder / name)
        table += models(data)
        found = {(method, rho): data.run(method, rho) for method, rhos in RUNS.items() for rho in rhos}
        speed += figure2.compare(name, found)[1]
    runs.program.write(given.folder / 'stars.csv', table)
    runs.program.write(given.folder / 'stars-speed.csv', speed)


if __name__ == '__main__':
    main(sys.argv[1:])
