# SPDX-License-Identifier: Apache-2.0
"""The move from Blazar to Climate on the real cloud, with leases in every state.

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
