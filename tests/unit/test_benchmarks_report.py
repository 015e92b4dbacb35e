# SPDX-License-Identifier: Apache-2.0
"""The report of the benchmarks: what it says of figures, and when it ends with an error."""
import importlib
import json
import os
import textwrap

from hypothesis import given
from hypothesis import strategies as st
import pytest

from benchmarks import report
from benchmarks import runner

_NUMBERS = st.floats(0.001, 1e6)
_FIGURES = st.builds(
    report.Figure, row=st.integers(0, 14), what=st.text(max_size=20), value=_NUMBERS,
    unit=st.sampled_from(['ms', 'x']), goal=st.none() | _NUMBERS, more=st.booleans(),
    p99=st.none() | _NUMBERS, p99_goal=st.none() | _NUMBERS, runs=st.integers(1, 99),
    firm=st.booleans())


@pytest.fixture
def module(tmp_path, monkeypatch):
    """callable(name, body of a generator of Figures): write a module that can be run."""
    paths = [str(tmp_path), os.environ.get('PYTHONPATH')]
    monkeypatch.setenv('PYTHONPATH', os.pathsep.join(filter(None, paths)))

    def write(name, body):
        (tmp_path / f'{name}.py').write_text(textwrap.dedent('''\
            import sys, time
            from benchmarks import report

            def figures(form):
            {body}

            if __name__ == '__main__':
                sys.exit(report.main(figures))
            ''').format(body=textwrap.indent(textwrap.dedent(body), '    ')))
    return write


def test_a_line_says_goal_ratio_and_whether_it_is_met():
    [words] = [report.line(report.Figure(
        4, 'read one lease', 4.0, 'ms', goal=8, p99=21.25, p99_goal=25, runs=500)).split('  ')]
    assert [word.strip() for word in words if word.strip()] == [
        '4', 'read one lease', '4 ms', '21.2 (≤ 25)', '≤ 8 ms', '0.50', 'yes', '500']


@pytest.mark.parametrize(('figure', 'met'), [
    (report.Figure(3, 'rate', 199, 'leases/s', goal=200, more=True), False),
    (report.Figure(3, 'rate', 200, 'leases/s', goal=200, more=True), True),
    (report.Figure(1, 'time', 2.1, 'ms', goal=2), False),
    (report.Figure(1, 'its tail is too long', 1, 'ms', goal=2, p99=9, p99_goal=5), False),
    (report.Figure(1, 'nobody measured its tail', 1, 'ms', goal=2, p99_goal=5), False),
    (report.Figure(1, 'nothing was asked', 1, 'ms'), None),
])
def test_a_figure_is_met_at_its_goal_and_not_beyond(figure, met):
    assert figure.met is met


def test_the_table_is_in_the_order_of_the_rows():
    lines = report.table([report.Figure(9, 'later', 1, 'x'), report.Figure(2, 'sooner', 1, 'x')])
    assert lines.index('sooner') < lines.index('later')


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=300))
def test_at_most_one_of_a_hundred_is_above_the_p99(values):
    found = report.p99(values)
    assert found in values
    assert sum(value > found for value in values) <= len(values) / 100


@given(st.lists(_FIGURES, max_size=5))
def test_json_keeps_every_figure(tmp_path_factory, figures):
    path = tmp_path_factory.mktemp('report') / 'bench.json'
    report.save(path, 'short', figures, {'a module': 'of age'})
    assert report.load(path) == (figures, {'a module': 'of age'})
    document = json.loads(path.read_text())
    assert [found['met'] for found in document['figures']] == [figure.met for figure in figures]


def test_a_time_that_misses_its_goal_is_no_error_and_a_firm_figure_is(module, tmp_path, capfd):
    module('slow', "yield report.Figure(1, 'a time', 9, 'ms', goal=2)")
    module('chatty', "yield report.Figure(1, 'asks', 9, 'statements', goal=2, firm=True)")
    assert runner.main(['--form', 'short'], {'slow': (1,)}) == 0
    assert 'died' not in capfd.readouterr().out
    assert runner.main(['--form', 'short'], {'chatty': (1,), 'slow': (1,)}) == 1
    said = capfd.readouterr().out
    assert 'asks: 9 statements, at most 2' in said
    assert 'died' not in said


def test_a_module_that_dies_is_named_and_the_others_are_kept(module, tmp_path, capfd):
    module('falls', "yield report.Figure(2, 'before', 1, 'ms')\nassert False, 'two of one host'")
    module('stands', "yield report.Figure(3, 'well', 1, 'ms')")
    assert runner.main(['--form', 'short', '--json', str(tmp_path / 'new' / 'bench.json')],
                       {'falls': (2,), 'nowhere': (1,), 'stands': (3,)}) == 1
    figures, died = report.load(tmp_path / 'new' / 'bench.json')
    assert [figure.what for figure in figures] == ['before', 'well']
    assert set(died) == {'falls', 'nowhere'}
    out, err = capfd.readouterr()
    assert 'falls died' in out
    assert 'two of one host' in err


@pytest.mark.proof
def test_a_module_that_does_not_end_is_ended(module, monkeypatch, capfd):
    monkeypatch.setitem(runner.LIMIT_SECONDS, 'short', 2)
    module('sleeper', "yield report.Figure(1, 'first', 1, 'ms')\ntime.sleep(600)")
    assert runner.main(['--form', 'short'], {'sleeper': (1,)}) == 1
    assert 'sleeper died: It took longer than 2 s.' in capfd.readouterr().out


def test_rows_choose_the_modules_and_their_figures(module, tmp_path):
    module('two_rows', "for row in (1, 2): yield report.Figure(row, f'row {row}', 1, form)")
    module('other', "assert False, 'not to be run'")
    path = tmp_path / 'bench.json'
    assert runner.main(['--form', 'long', '--rows', '2,7', '--json', str(path)],
                       {'two_rows': (1, 2), 'other': (3,)}) == 0
    assert report.load(path) == ([report.Figure(2, 'row 2', 1, 'long')], {})


@pytest.mark.parametrize('name', runner.MODULES)
def test_every_module_that_is_run_gives_figures(name):
    assert callable(importlib.import_module(name).figures)
    assert set(runner.MODULES[name]) <= set(range(22))
