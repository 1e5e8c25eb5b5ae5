"""What the figures share: the sets with their lambda, runs whose logs and scores are kept, and reading them."""

import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import program

# lambda times n: of 0.1, 1 and 10 the one with the best Hamming loss (yeast) or F1 (rcv1, whose sets of labels are
# small) of 500 training examples after training on 1000 others, exactly (yeast) or with rho = 1/n (rcv1).
TIMES = {'yeast': 1, 'rcv1': 0.1, 'rcv1-1000': 0.1}
# Of the paper; and the same divided by n: beside the mean of the losses, 1/(2 rho n) is the price of a disagreement.
RHOS = (0.01, 0.1, 1, 10)
SIZES = {50: 3, 100: 3, 200: 2, 400: 1, 800: 1}  # of parts of yeast's training data, with the number of draws
METHODS = {
    'Algorithm 1': ('bcfw', 'acceleration=false', 'steps=plain', 'sampling=uniform'),
    'accelerated': ('bcfw',),
    'eg': ('eg',),
    'n-slack': ('n-slack',),
}


class Set:
    """A folder with train.ml and test.ml, and what is run there."""

    def __init__(self, ssvm, folder):
        self.ssvm, self.folder = ssvm, folder
        with open(folder / 'train.ml') as lines:
            self.n = sum(1 for _ in lines)
        self.lam = TIMES[folder.name] / self.n

    def rhos(self):
        """{name: rho}: those of the paper, and in units of 1/n."""
        return {f'{rho}/n': rho / self.n for rho in RHOS} | {f'{rho}': rho for rho in RHOS}

    def soft(self, method, rho_name, *limits, **where):
        solver, *settings = METHODS[method]
        chosen = (word for setting in settings for word in ('--set', setting))
        words = ('--relaxation', 'soft', '--rho', self.rhos()[rho_name], '--solver', solver, *chosen, *limits)
        return self.run(f'{method} rho {rho_name}', words, **where)

    def lp(self, *limits, **where):
        return self.run('lp', ('--relaxation', 'lp', '--solver', 'bcfw', *limits), **where)

    def exact(self, *limits, **where):
        return self.run('exact', ('--relaxation', 'none', '--solver', 'bcfw', *limits), **where)

    def run(self, name, options, train='train.ml', score=True, dev=False):
        """The rows of the log of a run, numbers for text, and the scores of its model on the test data, or None.

        A run is made once: what it gave is kept in runs/. Seconds are those of the solver without evaluations, times
        the share of the time of the run that it had the processor for: others may have used the machine.
        """
        kept = self.folder / 'runs' / (re.sub(r'[^a-z0-9.]+', '-', f'{name} {Path(train).stem}'.lower()) + '.json')
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(json.dumps(self._made(options, train, score, dev)))
        found = json.loads(kept.read_text())
        return found['rows'], found['scores']

    def _made(self, options, train, score, dev):
        log, model, scores = (self.folder / name for name in ('log.csv', 'model', 'scores.json'))
        log.unlink(missing_ok=True)
        test = self.folder / 'test.ml'
        common = ('--lambda', self.lam, '--log', log, *(('--dev', test) if dev else ()))
        began, before = time.monotonic(), program.children_seconds()
        self._call('train', *common, *options, self.folder / train, model)
        share = min(1.0, (program.children_seconds() - before) / (time.monotonic() - began))
        with open(log, newline='') as stream:
            rows = list(csv.DictReader(line for line in stream if not line.startswith('#')))
        rows = [{key: float(value) if value else None for key, value in row.items()} for row in rows]
        for row in rows:
            row['seconds'] = round(row['seconds'] * share, 4)
        found = None
        if score:
            self._call('predict', '--metrics', scores, test, model, self.folder / 'predicted')
            found = {key: json.loads(scores.read_text())[key] for key in ('hamming_loss', 'micro_f1')}
        return {'options': [str(word) for word in (*common[:2], *options)], 'rows': rows, 'scores': found}

    def _call(self, command, *words):
        words = [str(word) for word in (self.ssvm, command, '-q', '--threads', 1, *words)]
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f'exit {done.returncode} from {" ".join(words)}\n{done.stderr}')


def relaxed(rows):
    """[(pass, seconds, least upper bound so far)] of the relaxed problem: of lp its own primal."""
    found, least = [], float('inf')
    for row in rows:
        least = min(least, row.get('relaxed_primal', row['primal']))
        found.append((int(row['pass']), row['seconds'], least))
    return found


def sets(given, *names):
    """Those that prepare.py has made."""
    for name in names:
        if (given.folder / name / 'train.ml').exists():
            yield Set(given.ssvm, given.folder / name)
        else:
            print(f'skipped: {name} is not in {given.folder}', file=sys.stderr)
