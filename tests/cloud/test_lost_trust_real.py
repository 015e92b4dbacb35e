# SPDX-License-Identifier: Apache-2.0
"""Trusts whose creation got no answer, on the real Keystone, which shows whole seconds."""
import datetime

import idling
from oslo_config import cfg
import pytest
from support import builders

from climate import cloud as clouds
from climate import conf as configuration
from climate.db import trusts
from climate.domain import records
from climate.manager import core as cores
from climate.manager.leases import trust_reaper
from climate.plugins import registry
from tools.cloud import climate_service

# After the time in which the lease of a new trust may follow.
LATER = datetime.timedelta(hours=1)


@pytest.fixture
def core(cloud, climate):
    """A manager of the cloud, in this process."""
    conf = configuration.register(cfg.ConfigOpts())
    conf([], project='climate', default_config_files=[str(climate_service.conf_file(cloud))],
         default_config_dirs=[])
    database = idling.database()
    yield cores.Core(conf=conf, database=database, registry=registry.Registry(conf),
                     cloud=clouds.build(conf, {}), clock=database.now)
    database.dispose()


@pytest.fixture
def create(core, demo, scene):
    """callable(moment): create a trust of a member that expires then, on the real Keystone."""
    keystone = core.cloud.as_service().keystone

    def run(expires_at, member=demo):
        caller = builders.a_member(member.current_user_id, member.current_project_id)
        caller.auth_token, caller.roles = member.session.get_token(), ['member']
        trust = keystone.create_trust(caller, expires_at)
        scene.afterwards(lambda: keystone.delete_trust(trust.id))
        return trust
    return run


def record(core, scene, expires_at):
    """Record a trust of which Keystone has not answered."""
    recorded = records.RecordedTrust(scene.name()[-36:], 'a lease', core.clock(), expires_at)
    with core.database.writer() as connection:
        trusts.add(connection, recorded)
    return recorded


@pytest.mark.parametrize('microsecond', [0, 1, 499999, 500000, 999999])
def test_a_trust_whose_creation_got_no_answer_is_deleted(core, create, scene, microsecond):
    expires_at = (core.clock() + datetime.timedelta(days=2000)).replace(microsecond=microsecond)
    recorded, keystone = record(core, scene, expires_at), core.cloud.as_service().keystone
    lost = create(expires_at)
    neighbour = create(expires_at.replace(microsecond=0) + datetime.timedelta(seconds=1))
    reaped = trust_reaper.TrustReaper(core).reap(core.clock() + LATER)
    assert recorded.id in {each.id for each in reaped}
    remaining = {trust.id for trust in keystone.trusts()}
    assert lost.id not in remaining and neighbour.id in remaining


def test_two_trusts_of_one_second_are_left_alone(core, create, scene, demo, alt):
    expires_at = (core.clock() + datetime.timedelta(days=2001)).replace(microsecond=250000)
    record(core, scene, expires_at)
    both = {create(expires_at, member).id for member in (demo, alt)}
    trust_reaper.TrustReaper(core).reap(core.clock() + LATER)
    assert both <= {trust.id for trust in core.cloud.as_service().keystone.trusts()}
