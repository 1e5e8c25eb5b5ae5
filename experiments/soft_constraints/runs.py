"""What the figures share: the sets, what is run on them, and reading the logs of runs, which are kept."""

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
# small) of 500 training examples after training on 1000 others; 1 for grids, where it makes little difference.
TIMES = {'yeast': 1, 'rcv1': 0.1, 'rcv1-300': 0.1, 'grids': 1}
PAPER_RHOS = ('0.01', '0.1', '1', '10')
RHOS = tuple(f'{rho}/n' for rho in PAPER_RHOS)  # beside the mean of the losses a disagreement costs 1/(2 rho n)

SOFT = ('--relaxation', 'soft', '--solver', 'bcfw')
DLPW = ('--relaxation', 'lp', '--solver', 'dlpw', '--gap-every', 20, '--max-passes', 2000)  # evaluations are slow
JUDGE = ('--relaxation', 'lp', '--solver', 'sgd', '--set', 'gamma0=1e-3', '--max-passes', 0)
METHODS = {
    'exact': ('--relaxation', 'none', '--solver', 'bcfw'),
    'lp': ('--relaxation', 'lp', '--solver', 'bcfw'),
    'soft': SOFT,
    'Algorithm 1': (*SOFT, '--set', 'acceleration=false', '--set', 'steps=plain', '--set', 'sampling=uniform'),
    'falling rho': SOFT,
    'multipliers': (*SOFT, '--augmented-lagrangian'),
    'dlpw': DLPW,
    'smooth dlpw': (*DLPW, '--set', 'smoothing=0.01'),
    'eg': ('--relaxation', 'soft', '--solver', 'eg'),
    'n-slack': ('--relaxation', 'soft', '--solver', 'n-slack'),
}
# what is run on each set, with the values of rho
RUNS = {
    'yeast': {
        'exact': ('',), 'lp': ('',),
        'soft': RHOS + PAPER_RHOS, 'Algorithm 1': RHOS, 'falling rho': ('10/n:0.1/n:0.1',), 'multipliers': ('1/n',),
        'eg': ('1/n',), 'n-slack': ('1/n',), 'dlpw': ('',), 'smooth dlpw': ('',),
    },
    'rcv1-300': {
        'lp': ('',),
        'soft': ('1/n', '3/n', '10/n', '1'), 'Algorithm 1': ('3/n',), 'falling rho': ('30/n:3/n:0.1',),
        'multipliers': ('30/n',), 'eg': ('3/n',), 'n-slack': ('3/n',), 'dlpw': ('',), 'smooth dlpw': ('',),
    },
    'rcv1': {'lp': ('',), 'dlpw': ('',), 'soft': ('3/n', '10/n'), 'falling rho': ('30/n:3/n:0.1',)},
    'grids': {
        'lp': ('',),
        'soft': RHOS, 'Algorithm 1': ('0.01/n',), 'falling rho': ('1/n:0.01/n:0.1',), 'multipliers': ('0.1/n',),
        'eg': ('0.01/n',), 'dlpw': ('',), 'smooth dlpw': ('',),
    },
}  # fmt: skip
# of the linear programs, and of all others; --max-time is by the clock, evaluations included
LP_LIMITS = {
    'yeast': ('--rel-gap', 5e-3, '--gap-every', 3, '--max-time', 300),
    'rcv1-300': ('--rel-gap', 5e-3, '--gap-every', 3, '--max-time', 300),
    'rcv1': ('--rel-gap', 5e-3, '--gap-every', 2, '--max-time', 180),
    'grids': ('--rel-gap', 5e-3, '--gap-every', 3, '--max-time', 120),
}
LIMITS = {
    'yeast': ('--rel-gap', 1e-4, '--gap-every', 2, '--max-passes', 100, '--max-time', 60),
    'rcv1-300': ('--rel-gap', 1e-3, '--gap-every', 3, '--max-time', 30),
    'rcv1': ('--rel-gap', 1e-3, '--gap-every', 3, '--max-time', 150),
    'grids': ('--rel-gap', 1e-3, '--gap-every', 5, '--max-time', 30),
}
SCORED = ('yeast',)  # of whose test data the curves have scores, too; with more linear programs they take seconds each


def number(rho, n):
    """The text of a rho for the command line: numbers in units of 1/n become plain ones."""
    parts = (part.partition('/') for part in rho.split(':'))
    return ':'.join(f'{float(value) / (n if unit else 1):.10g}' for value, unit, _ in parts)


class Set:
    """A folder with training and test data, and what is run there."""

    def __init__(self, ssvm, folder):
        self.ssvm, self.folder, self.name = ssvm, folder, folder.name
        self.train, self.test = next(folder.glob('train.*')), next(folder.glob('test.*'))
        with open(self.train) as lines:
            self.n = sum(1 for _ in lines)

    def run(self, method, rho='', part=None):
        """The rows of the log of a run, numbers for text, and the scores of its model on the test data.

        part : train on this file instead, and compute no scores
        A run is made once: what it gave is kept in runs/. Seconds are those of the solver without evaluations, times
        the share of the time of the run that it had the processor for: others may have used the machine. `n` in rho
        is the number of examples of the whole set, lambda goes by that of the file.
        """
        name = ' '.join((method, rho.replace(':', ' to '), part.stem if part else '')).strip()
        found = self._kept(name, lambda: self._made(method, rho, part))
        return found['rows'], found['scores']

    def steps(self, method, rho='', passes=1):
        """[(passes, seconds, relaxed objective of the weights, what the log says of it)]: of `lp` all evaluations of
        one run of so many passes, of other methods the last one, whose weights linear programs judge."""
        found = self._kept(f'{method} {rho} {passes} passes', lambda: self._judged(method, rho, passes))
        return [tuple(step) for step in found['steps']]

    def _kept(self, name, make):
        kept = self.folder / 'runs' / (re.sub(r'[^a-z0-9.]+', '-', name.lower()) + '.json')
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(json.dumps(make()))
        return json.loads(kept.read_text())

    def _made(self, method, rho, part):
        model, scores = self.folder / 'model', self.folder / 'scores.json'
        words = LP_LIMITS[self.name] if method == 'lp' else LIMITS[self.name]
        words += ('--dev', self.test) if self.name in SCORED and part is None else ()
        rows = self._trained(method, rho, part or self.train, model, *words)
        if part is not None:
            return {'rows': rows, 'scores': {}}
        self._call('predict', '--metrics', scores, self.test, model, self.folder / 'predicted')
        found = json.loads(scores.read_text())
        error = found['hamming_loss'] if 'hamming_loss' in found else 1 - found['accuracy']
        return {'rows': rows, 'scores': {'error': error, 'micro_f1': found.get('micro_f1')}}

    def _judged(self, method, rho, passes):
        model, judge = self.folder / 'model', self.folder / 'judge'
        every = 2 if method == 'lp' else passes
        rows = self._trained(
            method, rho, self.train, model, '--rel-gap', 0, '--max-passes', passes, '--gap-every', every
        )
        if method != 'lp':
            # no pass: the objective of the weights that it starts from; gamma0, or it would look for a step size first
            start = ('--init', model, *JUDGE, '--lambda', TIMES[self.name] / self.n)
            objective = self._logged(*start, self.train, judge)[-1]['primal']
            return {'steps': [(passes, rows[-1]['seconds'], objective, rows[-1]['relaxed_primal'])]}
        return {'steps': [(int(row['pass']), row['seconds'], row['primal'], row['primal']) for row in rows]}

    def _trained(self, method, rho, train, model, *words):
        n = len(train.read_text().splitlines())
        rho = ('--rho', number(rho, self.n)) if rho else ()
        began, before = time.monotonic(), program.children_seconds()
        rows = self._logged(*METHODS[method], '--lambda', TIMES[self.name] / n, *rho, *words, train, model)
        share = min(1.0, (program.children_seconds() - before) / (time.monotonic() - began))
        for row in rows:
            row['seconds'] = round(row['seconds'] * share, 4)
        return rows

    def _logged(self, *words):
        """The rows of the log of `ssvm train`, with numbers for text."""
        log = self.folder / 'log.csv'
        log.unlink(missing_ok=True)
        self._call('train', '--log', log, *words)
        with open(log, newline='') as stream:
            rows = list(csv.DictReader(line for line in stream if not line.startswith('#')))
        return [{key: float(value) if value else None for key, value in row.items()} for row in rows]

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
        if any((given.folder / name).glob('train.*')):
            yield Set(given.ssvm, given.folder / name)
        else:
            print(f'skipped: {name} is not in {given.folder}', file=sys.stderr)
