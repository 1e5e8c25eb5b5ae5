"""What a problem is, said once: in a header, in the facts of a run, and built from either."""

from dataclasses import FrozenInstanceError, fields

import pytest

from data_formats.files import checkpoint
from data_formats.models.header import OPTIONAL, REQUIRED
from data_formats.models.model import load
from ssvm_cli.options.problem_spec import ARRAY, KEYS, ProblemSpec, spec_of
from tests.cli.commands import conll_text, conllu_text, multiclass_text, run

OPTIONS = {
    't.conll': ('--order', '2', '--objective', 'log', '--feature-set', 'observed', '--bias'),
    't.svm': ('--task-loss', 'costs', '--rescale', 'slack', '-c', '7', '--scale', 'max'),
    't.conllu': ('--nonprojective', '--hash-bits', '12', '-p', '2', '--solver', 'n-slack', '--task-loss', 'zero-one'),
}
# Of a header, but how the problem was solved and what came of it.
RESULTS = {
    *('format', 'format_version', 'package_version', 'solver', 'settings', 'seed', 'examples', 'tokens', 'passes'),
    *('oracle_calls', 'primal', 'dual', 'gap', 'relative_gap', 'tolerance', 'status'),
}


@pytest.fixture(params=OPTIONS)
def model(request, tmp_path, monkeypatch):
    """A model, with its checkpoint and its log beside it."""
    monkeypatch.chdir(tmp_path)
    for name, text in {'t.conll': conll_text(), 't.svm': multiclass_text(), 't.conllu': conllu_text()}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / 'costs').write_text('\t1\t2\t3\n1\t0\t1\t2\n2\t1\t0\t1\n3\t2\t1\t0\n')
    kept = ('--checkpoint', 'ck', '--log', 'log')
    run('train', '--max-passes', 1, *kept, *OPTIONS[request.param], request.param, 'm')
    return load('m')


def test_a_header_is_made_again_from_what_was_read_of_it(model):
    spec = spec_of(model, 'm')
    assert spec.to_header() == {key: value for key, value in model.header.items() if key not in RESULTS}
    assert list(spec.to_header()) == [key for key in model.header if key not in RESULTS]
    assert ProblemSpec.from_header(spec.to_header(), spec.cost, spec.similarity) == spec


def test_facts_say_all_that_the_header_says(model):
    """A field that checkpoints do not compare would let a run go on as another one."""
    facts = spec_of(model, 'm').facts()
    header = {key: value for key, value in model.header.items() if key not in RESULTS}
    data, structure = header.pop('data'), header.pop('structure', {})
    said = header | data | structure
    loss = said.pop('loss')
    assert facts['task_loss'] == (None if loss == 'none' else loss)
    assert said == {key: value for key, value in facts.items() if key != 'task_loss'}


def test_checkpoint_and_log_begin_with_the_facts(model):
    facts = spec_of(model, 'm').facts()
    saved = checkpoint.load('ck').run
    assert list(saved)[1 : 1 + len(facts)] == list(facts) and facts.items() <= saved.items()
    with open('log') as stream:
        line = stream.readline()
    at = [line.index(f' {key}={value}') for key, value in facts.items() if key != 'template']
    assert at == sorted(at)


def test_all_fields_are_checked_in_headers():
    known = {*REQUIRED, *OPTIONAL}
    assert set(KEYS.values()) <= known
    assert {f.name for f in fields(ProblemSpec) if f.metadata == ARRAY} == {'cost', 'similarity'}


def test_it_is_frozen(model):
    with pytest.raises(FrozenInstanceError):
        spec_of(model, 'm').lam = 1.0
