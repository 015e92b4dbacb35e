# SPDX-License-Identifier: Apache-2.0
"""The story of hosts as living things: one dies, its lease is repaired, others sleep and wake.
"""
import datetime
import tempfile

from oslo_config import cfg

from climate import conf as configuration
from climate.cloud import simulated
from tools.demo import stage as stages

# The demo has no patience; the defaults wait for minutes.
_HEALTH = '[health]\npoll_seconds = 1\nsick_after_seconds = 2\nwell_after_seconds = 2\n'
_ENERGY = ('[energy]\ndriver = simulated\npoll_seconds = 1\nspare = 0\nlead_minutes = 0\n'
           'wake_minutes = 1\nwake_margin_percent = 1500\nmin_awake_minutes = 0\n'
           'min_asleep_minutes = 0\nsettle_seconds = 0\ncycles_per_day = 100\nwatts = 200\n')


def play(serve):
    """Every step prints what it does and proves what it says.

    :param serve: as ``month.play`` has it.
    """
    for options, story in ((_HEALTH, _heal), (_ENERGY, _sleep)):
        with tempfile.TemporaryDirectory(prefix='climate-living-') as folder, \
                serve(folder, options) as (environ, _):
            # The other stories have read theirs.
            cfg.CONF.reset()
            cloud = simulated.SimulatedCloud(configuration.load(
                [], 'climate-demo', files=[],
                defaults=[('simulated', 'state', f'{folder}/cloud.sqlite')]))
            story(stages.Stage(environ, cloud))


def _heal(stage):
    stages.step('A user leases a host for the afternoon.')
    lease = stage.climate('lease', 'create', 'afternoon', '--hosts', '1', '--start', '+4h',
                          '--duration', '2h', '-f', 'json')
    [host] = _hosts(stage, lease)
    stages.check(host, f'it is {host}')

    stages.step(f'{host} dies. That is not a flap of a moment, so Climate calls it sick.')
    stage.cloud.mark_host(host, up=False)
    stages.check(stages.soon(lambda: _shown(stage, host)['health']['state'] == 'sick'),
                 f'{host} is sick: {_shown(stage, host)["health"]["reason"]}')

    stages.step('The lease is repaired long before its start, and its owner can read why.')
    stages.check(stages.soon(lambda: _hosts(stage, lease) != [host]),
                 f'it has {_hosts(stage, lease)[0]} now')
    told = stage.climate('lease', 'explain', 'afternoon', '-f', 'json')
    [why] = [each['why'] for each in told if each['what'] == 'moved']
    stages.check(f'cannot use {host}' in why, why)

    stages.step(f'{host} is repaired.')
    stage.cloud.mark_host(host, up=True)
    stages.check(stages.soon(lambda: _shown(stage, host)['health']['state'] == 'well'),
                 f'{host} is well again, and can be leased')


def _sleep(stage):
    stages.step('Nobody has leased a host, so all of them fall asleep.')
    stages.check(stages.soon(lambda: _states(stage) == {'asleep'}), 'all hosts are asleep')
    stages.check(not any(each.up for each in stage.cloud.as_service().nova.hypervisors()),
                 'Nova says that they are down')

    stages.step('An administrator wakes one for a moment, and Climate learns how long that takes.')
    names = [each['hypervisor_hostname'] for each in stage.climate('host', 'list', '-f', 'json')]
    before = _shown(stage, names[0])['power_since']
    stage.climate('host', 'wake', names[0])

    def slept_again():
        seen = _shown(stage, names[0])
        return seen['power_state'] == 'asleep' and seen['power_since'] != before
    stages.check(stages.soon(slept_again), f'{names[0]} woke up, and fell asleep again')

    stages.step('A user leases a host in half a minute. It wakes up before that, not now.')
    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=25)
    lease = stage.climate('lease', 'create', 'soon', '--hosts', '1', '--start',
                          start.strftime('%Y-%m-%d %H:%M:%S'), '--duration', '1h', '-f', 'json')
    [host] = _hosts(stage, lease)
    stages.check(stages.soon(lambda: _shown(stage, host)['power_state'] == 'awake'),
                 f'{host} is awake')
    woke = datetime.datetime.now(datetime.UTC)
    ahead = (start - woke).total_seconds()
    stages.check(ahead > 0, f'that was {ahead:.0f} s before the start')
    stages.check(stages.soon(lambda: stage.quietly(
        'lease', 'show', 'soon', '-f', 'json')['status'] == 'active'), 'the lease is active')

    stages.step('What does the sleep of the others save?')
    print(stage.climate('energy'))
    saved = stage.climate('energy', '-f', 'json')
    stages.check(len(saved) == len(names) and sum(each['hours_asleep'] for each in saved) > 0,
                 'each host has its hours asleep')


def _shown(stage, name):
    return stage.quietly('host', 'show', name, '-f', 'json')


def _states(stage):
    return {each['power_state'] for each in stage.quietly(
        'host', 'list', '-c', 'power_state', '-f', 'json')}


def _hosts(stage, lease):
    """Return the names of the hosts that a lease has now."""
    ids = {str(key) for each in stage.quietly('lease', 'show', lease['id'], '-f', 'json')[
        'reservations'] for key in each['resources']}
    return [each['hypervisor_hostname'] for each in stage.quietly('host', 'list', '-f', 'json')
            if str(each['id']) in ids]
