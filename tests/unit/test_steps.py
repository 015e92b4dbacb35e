# SPDX-License-Identifier: Apache-2.0
"""The steps of CI run one after another or side by side, and end with a table."""
import subprocess

import pytest

from tools import steps

MAKEFILE = """
good:
\t@echo begins; echo '12 passed in 3 s'
bad:
\t@echo '1 failed, 2 passed in 3 s'; exit 2
endless:
\t@trap 'echo "1 failed, 7 passed in 3 s"; exit 1' INT; sleep 600 & wait
counted:
\t@printf x >> count/ran
seeded:
\t@echo "the seed is $(SEED)"
"""


@pytest.fixture
def run(tmp_path):
    """Run some steps; return the Run."""
    (tmp_path / 'Makefile').write_text(MAKEFILE)

    def run(*chosen, **options):
        made = steps.Run(chosen, root=tmp_path, **options)
        made.run()
        return made
    return run


def rows(made):
    return [line.split(maxsplit=5) for line in made.table().splitlines()[1:-1]]


def test_a_failure_does_not_stop_the_next_step_and_is_shown_with_the_closing_line(run, capsys):
    made = run(steps.Step('first', 'bad', 60), steps.Step('second', 'good', 60))
    assert [row[:2] for row in rows(made)] == [['first', 'FAILED'], ['second', 'passed']]
    assert rows(made)[0][5] == '1 failed, 2 passed in 3 s'
    assert '12 passed in 3 s' in capsys.readouterr().out


@pytest.mark.proof
def test_a_step_that_takes_too_long_is_stopped_with_its_failures_shown(run):
    # Long enough for the step to be ready for the interrupt on a busy machine.
    made = run(steps.Step('slow', 'endless', 60), limit_seconds=10)
    assert [(result.passed, result.closing) for result in made.results] == [
        (False, '1 failed, 7 passed in 3 s')]


def test_a_step_that_takes_too_long_is_marked(run):
    made = run()
    slow = steps.Result(steps.Step('slow', 'endless', 10), True, 15.1, '')
    assert slow.is_slow
    made.results[:] = [slow]
    assert 'TOO SLOW' in made.table()


def test_steps_beside_another_run_all_and_get_the_seed(run, tmp_path):
    made = run(steps.Step('main step', 'good', 60, beside=(
        steps.Step('one', 'seeded', 60), steps.Step('two', 'bad', 60))), seed=77)
    assert {result.step.name: result.passed for result in made.results} == {
        'main step': True, 'one': True, 'two': False}
    assert 'the seed is 77' in (tmp_path / 'build/steps/one.log').read_text()
    assert {row[-2] for row in rows(made)} >= {'77'}


def test_a_resumed_run_skips_what_passed_on_the_same_commit_only(run, tmp_path):
    (tmp_path / 'count').mkdir()
    chosen = (steps.Step('counts', 'counted', 60), steps.Step('bad', 'bad', 60))
    _commit_all(tmp_path)
    first = steps.commit(tmp_path)
    run(*chosen, seed=5)
    made = run(*chosen, seed=6, commit=first)
    assert [row[:2] for row in rows(made)] == [['counts', 'passed'], ['bad', 'FAILED']]
    assert [result.seed for result in made.results] == [5, 6]
    assert len((tmp_path / 'count/ran').read_text()) == 1
    _commit_all(tmp_path)
    run(*chosen, commit=steps.commit(tmp_path))
    assert len((tmp_path / 'count/ran').read_text()) == 2


def test_a_folder_with_changes_has_no_commit(run, tmp_path):
    assert steps.commit(tmp_path) is None
    _commit_all(tmp_path)
    assert len(steps.commit(tmp_path)) == 40
    (tmp_path / 'Makefile').write_text('')
    assert steps.commit(tmp_path) is None


def _commit_all(folder):
    git = ['git', '-C', str(folder), '-c', 'user.name=A', '-c', 'user.email=a@example.org']
    for words in (['init', '-q'], ['add', 'Makefile'],
                  ['commit', '-q', '--allow-empty', '-m', 'A commit.']):
        subprocess.run([*git, *words], check=True)


@pytest.mark.parametrize('name', ['ci', 'release'])
def test_an_unknown_step_is_refused_with_the_existing_ones(name, capsys):
    with pytest.raises(SystemExit):
        steps.main([name, '--only', 'tset'])
    assert 'There is no step tset. The steps are check, test, ' in capsys.readouterr().err


def test_every_step_is_a_target_of_the_makefile():
    text = (steps.ROOT / 'Makefile').read_text()
    every = [*steps.CI, *steps.RELEASE]
    every += [other for step in every for other in step.beside]
    for step in every:
        for word in step.targets.split():
            assert '=' in word or f'\n{word}:' in text, word
