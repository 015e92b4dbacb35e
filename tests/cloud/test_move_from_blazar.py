# SPDX-License-Identifier: Apache-2.0
"""The move from Blazar to Climate on the real cloud, with leases in every state, and the return.

Blazar 18.0.0 runs with its own packages. The commands and the options are those of the page.
"""
import time

import blazar_cloud as clouds
import blazar_fleet as fleets
import moved_climate as moves
import pytest
import scene as scenes

from tools import pages
from tools.cloud import climate_service

ENDED = [*(name for name in fleets.ACTIVE if name != 'host-run'),
         'sized-starting', 'flavor-starting', 'sized-creating']
DELETED = ['host-far', 'hosts-far', 'sized-far', 'flavor-far', 'address-far', 'host-updating',
           'doubled-first', 'doubled-second', *fleets.BROKEN]
STAYING = ['host-later', 'sized-next', 'flavor-next']
#: Leases that run at the return.
RUNNING = ['sized-next', 'flavor-next', 'made-active']


@pytest.fixture
def kinds():
    return clouds.KINDS


@pytest.fixture
def old(cloud, scene, tmp_path):
    """The BlazarCloud, which runs instead of the cloud's Climate."""
    hosts = scene.climate('admin').hosts
    for name in cloud.climate_hosts:
        hosts.delete(hosts.find(name)['id'])
    scenes.tool(cloud, 'climate-down')
    made = clouds.BlazarCloud(scene, tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.forget()
        climate_service.up(cloud)
        for name in cloud.climate_hosts:
            rack = 'right' if name == cloud.climate_hosts[-1] else 'left'
            hosts.create(name, {'rack': rack})


@pytest.fixture
def new(old, tmp_path):
    """The MovedClimate, neither configured nor started."""
    made = moves.MovedClimate(old, tmp_path)
    yield made
    made.stop()
    made.drop()


def test_all_leases_of_blazar_end_well_in_climate(old, new):
    before = old.state()
    old.fill()
    old.stop()
    new.configure()
    fleet = _switch(old, new)
    fleet.servers_are_unchanged()
    fleet.extend('host-run', old.hour_seconds)
    fleet.wait(('host-run', 'sized-run', 'sized-starting', 'flavor-starting'), 'active')
    old.boots(['host-run', 'sized-run', 'sized-together', 'flavor-run'])
    fleet.refuses_strangers('host-run')
    fleet.delete(DELETED)
    fleet.wait(ENDED, 'terminated')
    fleet.servers_are_gone(set(fleets.WITH_SERVER) - {'host-run'})
    fleet.take_image('host-images')
    fleet.wait(STAYING, 'active')
    old.boots(STAYING)
    fleet.end(STAYING)
    fleet.wait(old.ids.keys() - set(DELETED), 'terminated')
    fleet.ended_in_time(old.ids.keys() - {*DELETED, *fleets.CRASHES, *fleets.OVER})
    assert 'The cloud and the database agree.' in new.follow('Switch', 1)
    after = old.state()
    # Blazar keeps the trusts of leases that are over.
    assert after['trusts'].keys() - before['trusts'].keys() == old.trusts(fleets.OVER)
    assert after | {'trusts': None} == before | {'trusts': None}


def test_all_leases_end_well_in_blazar_after_a_return(old, new):
    before = old.state()
    old.fill()
    old.stop()
    new.configure('Return to Blazar')
    fleet = _switch(old, new)
    fleet.extend('host-run', old.hour_seconds // 2)
    fleet.delete(DELETED)
    fleet.create('made-active', fleets.sized(2), duration=20 * old.hour_seconds)
    # Members may not name hosts.
    fleet.create('made-pending', {**fleets.host(''), 'hypervisor_properties': ''},
                 100 * old.hour_seconds, duration='10m')
    fleet.wait(ENDED, 'terminated')
    fleet.take_image('host-images')
    fleet.wait(RUNNING, 'active')
    old.servers |= old.boots(RUNNING)
    _return(old, new)
    fleet.servers_are_unchanged(RUNNING)
    old.boots(RUNNING)
    old.wait(old.ids.keys() - {*DELETED, *RUNNING, 'host-later', 'made-pending'}, 'TERMINATED')
    old.wait(['host-later'], 'ACTIVE')
    old.boots(['host-later'])
    old.end(['host-later', *RUNNING])
    fleet.servers_are_gone(RUNNING)
    old.delete(old.ids.keys() - set(DELETED))
    # Blazar never deletes a trust.
    assert old.state() | {'trusts': None} == before | {'trusts': None}


def _return(old, new):
    """Export as the page says, and start Blazar; the leases that Climate deleted are gone."""
    new.stop()
    shown = new.follow('Return to Blazar', 0)
    assert 'Nothing was written' in shown, shown
    scenes.until(new.export, 'the export to be accepted', 120, 1)
    old.switch_filter()
    old.blazar.start()
    assert {lease['id'] for lease in old.blazar.read('leases')} == {
        old.ids[name] for name in old.ids.keys() - set(DELETED)}


def _switch(old, new):
    """Import as the page says, and start Climate; return the MovedLeases.

    The doubled leases are first shown, then accepted.
    """
    began = time.monotonic()
    shown = new.follow('Prepare', 0)
    took = time.monotonic() - began
    assert 'Nothing was written' in shown
    for name in ('doubled-first', 'doubled-second'):
        assert f'lease {old.ids[name]} ({name})' in shown
    with pytest.raises(pages.PageError, match='--accept-losses'):
        new.follow('Switch', 0)
    new.switch_filter()
    old.hasten(took)
    written = new.import_('--accept-losses')
    assert f'Leases: {len(old.ids)} added' in written, written
    new.start()
    return moves.MovedLeases(old)
