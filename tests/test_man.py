"""The manual pages against the real options, and every example in them and in --help run as it stands."""

import re
import shlex
import shutil
import subprocess

import pytest

from data_formats.files.log import COLUMNS
from data_formats.formats.registry import FORMATS
from data_formats.parsing import templates
from ssvm_cli import __version__
from ssvm_cli.cli import COMMANDS, cli
from ssvm_cli.options.click_types import LazyChoice
from ssvm_cli.options.groups import tasks_help
from ssvm_cli.options.task_losses import TaskLoss, losses_help
from tests.cli.commands import ROOT, conll_text, conllu_text, hmm_text, multiclass_text, run

MAN = ROOT / 'man'
PAGES = ['ssvm.1', *(f'ssvm-{name}.1' for name in COMMANDS), 'ssvm-formats.5']
SECTIONS = ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'OPTIONS', 'EXIT STATUS', 'EXAMPLES', 'SEE ALSO']


def page(name):
    return (MAN / name).read_text(encoding='ascii')


def plain(text):
    """Without the escapes of troff."""
    return text.replace('\\-', '-').replace('\\fI', '').replace('\\fR', '').replace('\\&', '')


def option_entries(name):
    """The tag line and the text of each entry of the OPTIONS section."""
    section = page(name).split('.SH OPTIONS\n')[1].split('\n.SH ')[0]
    for entry in section.split('.TP\n')[1:]:
        tag, _, text = plain(entry).partition('\n')
        yield tag, text.split('\n.SS ')[0]


def spellings(tag):
    return set(re.findall(r'(?<![\w-])--?[a-zA-Z][\w-]*', tag))


def options_of(name):
    command = cli if name == 'ssvm.1' else cli.get_command(None, name.removeprefix('ssvm-').removesuffix('.1'))
    with command.make_context('x', [], resilient_parsing=True) as ctx:
        return [param for param in command.get_params(ctx) if param.param_type_name == 'option']


def test_there_is_a_page_for_each_command_and_no_other():
    assert sorted(path.name for path in MAN.iterdir()) == sorted(PAGES)


@pytest.mark.parametrize('name', PAGES)
def test_header_and_sections(name):
    text = page(name)
    title, section = name.rsplit('.', 1)
    header = text.splitlines()[0]
    assert re.fullmatch(rf'\.TH {title.upper()} {section} \d{{4}}-\d\d-\d\d "ssvm {__version__}" "ssvm manual"', header)
    wanted = ['NAME', 'DESCRIPTION', 'SEE ALSO'] if section == '5' else SECTIONS
    found = re.findall(r'^\.SH (.*)$', text, re.MULTILINE)
    assert [name for name in found if name in wanted] == wanted
    assert max(map(len, text.splitlines())) <= 125


@pytest.mark.parametrize('name', PAGES[:-1])
def test_every_option_is_documented_and_the_reverse(name):
    documented = sorted(sorted(spellings(tag)) for tag, _ in option_entries(name))
    real = sorted(sorted([*param.opts, *param.secondary_opts]) for param in options_of(name))
    assert documented == real


@pytest.mark.parametrize('name', PAGES[1:-1])
def test_defaults_and_choices(name):
    entries = {option: (tag, text) for tag, text in option_entries(name) for option in spellings(tag)}
    for param in options_of(name):
        tag, text = entries[param.opts[-1]]
        if param.show_default:
            assert f'[{param.default:g}]' in text if isinstance(param.default, float) else f'[{param.default}]' in text
        choices = param.type.names() if isinstance(param.type, LazyChoice) else getattr(param.type, 'choices', ())
        for choice in choices:
            assert choice in tag, f'{param.opts}: {choice}'


def test_defaults_of_tasks_and_losses_are_those_of_the_help():
    entries = {tuple(sorted(spellings(tag))): text for tag, text in option_entries('ssvm-train.1')}
    for option, told in ((('--task',), tasks_help()), (('--task-loss', '-l'), losses_help())):
        page = ' '.join(re.sub(r'^\.B ', '', entries[option], flags=re.MULTILINE).split())
        defaults = re.sub(r' \(or \d\)', '', re.split(r'Default[\w ]*: ', told)[1]).rstrip('.')
        for default in re.split(r', (?=[\w-]+ for )', defaults):
            assert default in page, default


def test_the_names_of_losses_are_those_of_the_help():
    (tag,) = [tag for tag, _ in option_entries('ssvm-train.1') if '--task-loss' in tag]
    assert re.sub(r'[" ]', '', tag.split('--task-loss')[1]) == TaskLoss().get_metavar(None).strip('[]')


@pytest.mark.parametrize('name', PAGES)
def test_groff_has_nothing_to_say(name):
    if shutil.which('groff') is None:
        pytest.skip('needs groff')
    done = subprocess.run(['groff', '-man', '-Tutf8', '-ww', MAN / name], capture_output=True, check=True)
    assert done.stderr == b'' and b'SEE ALSO' in re.sub(b'.\x08', b'', done.stdout)


def examples_of_page(name):
    for block in re.findall(r'^\.nf\n(.*?)^\.fi$', page(name), re.MULTILINE | re.DOTALL):
        for line in plain(block).splitlines():
            if re.match(r'(cat \S+ \| )?ssvm ', line):
                yield line


def examples_of_help(name):
    text = run(*([] if name is None else [name]), '--help').stdout
    return [line.strip() for line in text.splitlines() if line.startswith('    ssvm ')]


def test_formats_are_documented():
    text = plain(page('ssvm-formats.5'))
    for name, module in FORMATS.items():
        assert f'.SS {name} ({" ".join(module.EXTENSIONS)})\n' in text
    for column in COLUMNS:
        assert re.search(rf'^\.BR? .*\b{column}\b', text, re.MULTILINE), column


def test_the_template_of_the_page_is_one():
    block = plain(page('ssvm-formats.5')).split('.SH TEMPLATES')[1].split('.nf\n')[1].split('.fi')[0]
    template = templates.parse(block)
    assert len(template.states) == 3 and template.transitions


def options_yaml():
    """The options file that the page of train shows."""
    block = plain(page('ssvm-train.1')).split('options.yaml\nbeing\n')[1].split('.nf\n')[1]
    return block.split('.fi')[0]


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """The files that examples name."""
    folder = tmp_path_factory.mktemp('examples')
    (folder / 'train.conll').write_text(conll_text(12))
    (folder / 'dev.conll').write_text(conll_text(4, seed=1))
    (folder / 'test.conll').write_text(conll_text(4, seed=2))
    (folder / 'chunk.tpl').write_text('U0:%x[0,0]\nU1:%x[-1,0]\nB\n')
    (folder / 'train.hmm').write_text(hmm_text())
    (folder / 'train.fa').write_text('>native 1\nACGT\n>homolog 1 1:0:MSM\nCAT\n>decoy 1\nGGA\n')
    (folder / 'train.letor').write_text('2 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2 2:1\n')
    (folder / 'train.boxes').write_text('picture 4 3 1 1 2 2\n0 0 a\n1 1 b\n2 2 b\n3 2 a\n')
    (folder / 'tags.ml').write_text('a,b 1:1\nb,c 2:1\na 1:1 3:1\n')
    (folder / 'digits.svm').write_text(multiclass_text())
    for name in ('train', 'dev', 'test'):
        (folder / f'{name}.conllu').write_text(conllu_text(8, seed=len(name)))
        (folder / f'{name}.mrg').write_text('(TOP (S (NP (DT a) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)))))\n' * 3)
    (folder / 'options.yaml').write_text(options_yaml())
    return folder


def run_example(line):
    stdin = None
    if ' | ' in line:
        cat, line = line.split(' | ')
        with open(cat.split()[1], 'rb') as stream:
            stdin = stream.read()
    run(*shlex.split(line)[1:], stdin=stdin)


@pytest.mark.parametrize('name', [None, *COMMANDS])
def test_examples_run(folder, monkeypatch, name):
    monkeypatch.chdir(folder)
    found = list(examples_of_page('ssvm.1' if name is None else f'ssvm-{name}.1'))
    shown = list(examples_of_help(name))
    assert found and shown
    if not (folder / 'chunk.model').exists():
        run('train', '-q', '--template', 'chunk.tpl', 'train.conll', 'chunk.model')
        run('train', '-q', '--max-passes', 3, 'train.conllu', 'trees.model')
        run('train', '-q', '--terminals', 'pos', 'train.mrg', 'grammar.model')
    for line in found + shown:
        run_example(line)
