"""Train with python-crfsuite's L-BFGS, c2 = 1 (that is lambda = 2/n), and print a JSON line about it.

train_crfsuite.py FILE all|observed ITERATIONS [MODEL]
"""

import json
import sys

import pycrfsuite
from read_crfsuite import read


def main(path, features, iterations, model=''):
    trainer = pycrfsuite.Trainer(algorithm='lbfgs', verbose=False)
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
                'features': trainer.logparser.featgen_num_features,
            }
        )
    )


if __name__ == '__main__':
    main(*sys.argv[1:])
