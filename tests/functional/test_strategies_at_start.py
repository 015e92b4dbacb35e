# SPDX-License-Identifier: Apache-2.0
"""A strategy that cannot be used is reported to the operator before a user meets it."""
import pytest


@pytest.fixture
def run(run_program):
    """callable(program, words…, strategy): (exit status, all that it said)."""
    return lambda *words, strategy='fewest-instances': run_program(
        *words, options=f'[acquire]\nmigration_strategy = {strategy}')


@pytest.fixture
def broken(tmp_path):
    """A package with a strategy that does not load."""
    about = tmp_path / 'broken-1.0.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text('Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n')
    (about / 'entry_points.txt').write_text(
        '[climate.acquire.strategies]\nby-dice = no_such_module:ByDice\n')


@pytest.mark.parametrize('program', [
    pytest.param('climate-manager', marks=pytest.mark.proof), 'climate-standalone'])
def test_a_default_that_is_not_installed_ends_the_start_with_the_known_ones(run, program):
    status, said = run(program, strategy='by-dice')
    assert status == 1
    assert (f'{program}: [acquire] migration_strategy: "by-dice" is not installed; installed are: '
            'cheapest, fewest-instances, least-memory, stopped-first.') in said


@pytest.mark.proof
def test_one_that_does_not_load_ends_the_start(run, broken):
    status, said = run('climate-manager')
    assert status == 1
    assert '"by-dice" does not load: No module named' in said


@pytest.mark.proof
def test_the_check_before_an_upgrade_tells_of_it(run):
    status, said = run('climate-status', 'upgrade', 'check')
    assert 'Strategies' in said, said
    assert 'Failure' not in said
    status, said = run('climate-status', 'upgrade', 'check', strategy='by-dice')
    assert status == 2
    assert '"by-dice" is not installed' in ' '.join(said.replace('|', ' ').split())
