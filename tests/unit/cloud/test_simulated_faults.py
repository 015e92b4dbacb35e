# SPDX-License-Identifier: Apache-2.0
"""Crashes, failing calls and shared state of the simulated cloud."""
import signal
import subprocess
import sys
import textwrap

import pytest
from support import thinning

from climate import errors
from climate.cloud import call_guard
from climate.manager import ownership


class Crash(Exception):
    """The error of a test at a point where a process might die."""


def _process(text, state, *settings):
    """Start another process that runs `text` with a simulated cloud, `cloud`, of that state."""
    setup = f"""
        from oslo_config import cfg
        from climate import conf as options
        from climate.cloud import simulated
        conf = options.register(cfg.ConfigOpts())
        conf([], default_config_files=[])
        for name, value in {[('state', str(state)), *settings]!r}:
            conf.set_override(name, value, group='simulated')
        cloud = simulated.SimulatedCloud(conf)
        nova = cloud.as_service().nova
    """
    program = textwrap.dedent(setup) + textwrap.dedent(text)
    return subprocess.Popen([sys.executable, '-c', program], text=True, stdout=subprocess.PIPE)


def test_each_call_has_a_point_before_and_one_after(simulate):
    seen = []
    cloud = simulate('', on_point=lambda name, when: seen.append((name, when)))
    nova = cloud.as_service().nova
    nova.add_hosts(nova.ensure_aggregate('freepool'), ['compute-1', 'compute-2'])
    names = ['nova.aggregate', 'nova.create_aggregate', 'nova.add_host', 'nova.add_host']
    assert seen == [(name, when) for name in names for when in ('before', 'after')]


def test_a_claim_that_ends_while_a_call_waits_for_the_lock_prevents_the_call(simulate):
    nova = simulate('').as_service().nova
    aggregate = nova.ensure_aggregate('freepool')
    checks = []

    def check():
        checks.append(None)
        # The first check is before the call waits.
        if len(checks) > 1:
            raise ownership.ClaimLost
    with call_guard.before_each_call(check), pytest.raises(ownership.ClaimLost):
        nova.add_hosts(aggregate, ['compute-1'])
    assert nova.aggregate('freepool').hosts == ()


def test_changes_by_a_test_pass_no_fault_points(simulate):
    seen = []
    cloud = simulate('', on_point=lambda name, when: seen.append(name))
    cloud.boot('p', 'vm')
    cloud.servers()
    assert seen == []


@pytest.mark.parametrize('when, hosts', [('before', ()), ('after', ('compute-1',))])
def test_a_crash_after_a_call_leaves_it_done_and_one_before_does_not(simulate, when, hosts):
    def crash(name, at):
        if (name, at) == ('nova.add_host', when):
            raise Crash()
    cloud = simulate('')
    nova = cloud.as_service().nova
    freepool = nova.ensure_aggregate('freepool')
    cloud.faults.on_point = crash
    with pytest.raises(Crash):
        nova.add_hosts(freepool, ['compute-1', 'compute-2'])
    cloud.faults.on_point = None
    assert nova.aggregate('freepool').hosts == hosts


def test_calls_fail_as_often_as_was_asked(simulate):
    cloud = simulate('')
    nova = cloud.as_service().nova
    cloud.fail('nova.hypervisors', 2, errors.CloudUnreachable(service='Nova', reason='away'))
    for _ in range(2):
        with pytest.raises(errors.CloudUnreachable):
            nova.hypervisors()
    assert len(nova.hypervisors()) == 8


def test_a_refused_move_changes_nothing_and_the_others_happen(simulate):
    cloud = simulate('')
    nova = cloud.as_service().nova
    freepool = nova.ensure_aggregate('freepool')
    cloud.fail('nova.add_host', 1, errors.CloudError(service='Nova', reason='no'))
    with pytest.raises(errors.CloudError):
        nova.add_hosts(freepool, ['compute-1', 'compute-2'])
    assert nova.aggregate('freepool').hosts == ('compute-2',)


@pytest.mark.proof
def test_two_processes_share_one_cloud(simulate, tmp_path):
    state = tmp_path / 'cloud.sqlite'
    program = """
        freepool = nova.ensure_aggregate('freepool')
        for number in range(20):
            cloud.boot('p', f'vm-{number}', host='compute-1')
        print(freepool.id)
    """
    both = [_process(program, state) for _ in range(2)]
    ids = {each.communicate(timeout=60)[0] for each in both}
    cloud = simulate(f'state = {state}')
    assert len(ids) == 1
    assert len(cloud.host_names()) == 8
    assert len(cloud.servers('p')) == 40
    assert len(cloud.as_service().nova.aggregates()) == 1


# Points: 1, 2 look for the aggregate; 3, 4 make it; 5, 6 and 7, 8 move a host each.
@pytest.mark.proof
@pytest.mark.parametrize('point, aggregates, hosts', thinning.few([
    (3, 0, ()), (4, 1, ()), (6, 1, ('compute-1',)), (8, 1, ('compute-1', 'compute-2'))], 2))
def test_a_process_dies_at_the_point_that_was_named(simulate, tmp_path, point, aggregates, hosts):
    state = tmp_path / 'cloud.sqlite'
    process = _process("""
        nova.add_hosts(nova.ensure_aggregate('freepool'), ['compute-1', 'compute-2'])
        print('alive')
    """, state, ('crash_at', point))
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (-signal.SIGKILL, '')
    nova = simulate(f'state = {state}').as_service().nova
    assert len(nova.aggregates()) == aggregates
    assert tuple(host for each in nova.aggregates() for host in each.hosts) == hosts
