"""Hamming loss and F1 of sets of labels with weights for all pairs, for the pairs of a tree, for none, and of
scikit-learn's one-vs-rest LinearSVC where that is installed, as CSV. Each has the lambda that does best on the held-out
examples (micro F1)."""

import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # what the experiments share
import program

SETS = ('yeast', 'made-up')
LAMBDAS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
METHODS = {  # options to train with and to predict with
    'all': (('--pairs', 'all', '--rel-gap', 0.1, '--max-passes', 30), ('--inference', 'dual-decomposition')),
    'tree': (('--pairs', 'tree', '--rel-gap', 0.01), ()),
    'none': (('--pairs', 'none', '--rel-gap', 0.01), ()),
}
SCORES = ('hamming_loss', 'micro_f1', 'macro_f1', 'example_f1')


def by_ssvm(ssvm, folder, training, predicting):
    """(scores on the test examples, lambda, CPU seconds of training at that lambda)."""
    best = None
    for lam in LAMBDAS:
        model, before = folder / f'{lam:g}.model', program.children_seconds()
        call(ssvm, 'train', '-q', '--threads', 1, '--bias', *training, '--lambda', lam, folder / 'train.ml', model)
        seconds = program.children_seconds() - before
        held = scores_of(ssvm, folder, 'held', model, predicting)['micro_f1']
        if best is None or held > best[0]:
            best = held, lam, seconds, model
    _, lam, seconds, model = best
    return scores_of(ssvm, folder, 'test', model, predicting), lam, seconds


def scores_of(ssvm, folder, part, model, options):
    metrics = folder / 'scores.json'
    call(ssvm, 'predict', '-q', *options, '--metrics', metrics, folder / f'{part}.ml', model, folder / 'out')
    scores = json.loads(metrics.read_text())
    return {key: scores[key] for key in SCORES}


def call(*command):
    done = subprocess.run([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f'exit {done.returncode} from {" ".join(map(str, command))}\n{done.stderr}')


def by_sklearn(folder):
    """The same of LinearSVC, which minimises half the squared hinge; None where scikit-learn is not installed."""
    try:
        from scipy.sparse import csr_matrix
        from sklearn.datasets import load_svmlight_file
        from sklearn.metrics import f1_score, hamming_loss
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.preprocessing import MultiLabelBinarizer
        from sklearn.svm import LinearSVC
    except ImportError:
        print('skipped: scikit-learn is not installed (LinearSVC)', file=sys.stderr)
        return None
    read = {part: load_svmlight_file(str(folder / f'{part}.ml'), multilabel=True) for part in ('train', 'held', 'test')}
    width = max(x.shape[1] for x, _ in read.values())
    binary = MultiLabelBinarizer().fit([labels for _, sets in read.values() for labels in sets])
    parts = {}
    for part, (x, sets) in read.items():
        table = csr_matrix((x.data, x.indices.astype('i4'), x.indptr.astype('i4')), (x.shape[0], width))
        parts[part] = table, binary.transform(sets)
    best = None
    for lam in LAMBDAS:
        before = time.process_time()
        svm = OneVsRestClassifier(LinearSVC(C=1 / (len(read['train'][1]) * lam), random_state=0)).fit(*parts['train'])
        seconds = time.process_time() - before
        held = f1_score(parts['held'][1], svm.predict(parts['held'][0]), average='micro', zero_division=0)
        if best is None or held > best[0]:
            best = held, lam, seconds, svm
    _, lam, seconds, svm = best
    right, found = parts['test'][1], svm.predict(parts['test'][0])
    scores = {'hamming_loss': hamming_loss(right, found)} | {
        f'{name}_f1': f1_score(right, found, average=average, zero_division=1 if average == 'samples' else 0)
        for name, average in (('micro', 'micro'), ('macro', 'macro'), ('example', 'samples'))
    }
    return scores, lam, seconds


def main(arguments):
    given = program.parser(__doc__).parse_args(arguments)
    rows = []
    for name in SETS:
        folder = given.folder / name
        if not (folder / 'train.ml').exists():
            continue
        found = {method: by_ssvm(given.ssvm, folder, *options) for method, options in METHODS.items()}
        found['LinearSVC'] = by_sklearn(folder)
        for method, result in found.items():
            if result is not None:
                scores, lam, seconds = result
                shown = {key: f'{100 * scores[key]:.2f}' for key in SCORES}
                rows.append({'set': name, 'method': method, **shown, 'lambda': lam, 'cpu_seconds': f'{seconds:.1f}'})
                print(', '.join(f'{key} {value}' for key, value in rows[-1].items()), flush=True)
    program.write(given.folder / 'scores.csv', rows)


if __name__ == '__main__':
    main(sys.argv[1:])
