"""Train with python-crfsuite's L-BFGS, c2 = 1 (that is lambda = 2/n), and print a JSON line about it.

train_crfsuite.py FILE all|observed ITERATIONS [MODEL]
"""

import json
import sys
import time

import pycrfsuite
from read_crfsuite import read


class Timed(pycrfsuite.Trainer):
    """Keeps (loss, CPU seconds of the process so far) of every iteration."""

    def __init__(self, **how):
        super().__init__(**how)
        self.curve = []

    def message(self, message):
        super().message(message)
        seen = self.logparser.iterations
        if len(seen) > len(self.curve) and 'loss' in seen[-1]:
            self.curve.append((seen[-1]['loss'], time.process_time()))


def main(path, features, iterations, model=''):
    trainer = Timed(algorithm='lbfgs', verbose=False)
    read(path, trainer)
    every = features == 'all'
    trainer.set_params(
        {
            'c1': 0,
            'c2': 1,
            'feature.possible_states': every,
            'feature.possible_transitions': every,
            'max_iterations': int(iterations),
            'epsilon': 1e-6,
            'delta': 1e-9,
        }
    )
    trainer.train(model)
    seen = trainer.logparser.iterations
    print(
        json.dumps(
            {
                'iterations': len(seen),
                'evaluations': 1 + sum(one['linesearch_trials'] for one in seen),
                'seconds': sum(one['time'] for one in seen),
                'loss': min(one['loss'] for one in seen),
                'curve': trainer.curve,
                'features': trainer.logparser.featgen_num_features,
            }
        )
    )


if __name__ == '__main__':
    main(*sys.argv[1:])
