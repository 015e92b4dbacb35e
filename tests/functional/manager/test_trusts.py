# SPDX-License-Identifier: Apache-2.0
"""A lease has a Keystone trust only if Climate acts as its owner for one of its reservations."""
import secrets

import acts
import pytest
import stacks
from support import builders
from support import thinning

from climate import errors
from climate.db import tables
from climate.domain import lifecycle
from climate.domain import records

NOON, HOURS = builders.NOON, builders.hours
LATER = {'start': NOON + HOURS(2), 'end': NOON + HOURS(3)}
REFUSED = errors.TrustRefused(reason='It cannot.')
COLLIDES = errors.Conflict(reason='Duplicate entry at trust of another user.')
SUBNET = {'subnet': '10.42.0.0/24'}

# (type, request).
WITHOUT = {
    'hosts': ('physical:host', {'min': 1, 'max': 1}),
    'instances': ('virtual:instance', {**builders.instances(1).request, 'affinity': None}),
    'flavor': ('flavor:instance', {'flavor_id': '2', 'amount': 1, 'affinity': None}),
    'network': ('virtual:network', {}),
}
# With the field that a refusal names; None: the lease is made without a trust if Keystone refuses.
WITH = {
    'hosts with images': ('physical:host', {'min': 1, 'max': 1, 'before_end': 'snapshot'}, None),
    'affinity': ('virtual:instance', {**builders.instances(1).request, 'affinity': True}, None),
    'volumes of a type': ('virtual:volume', {'size_gb': 10, 'give': 'type'}, None),
    'volumes': ('virtual:volume', {'size_gb': 10}, 'give'),
    'subnet': ('virtual:network', SUBNET, 'subnet'),
    'stack': ('virtual:stack', {'template': stacks.template()}, 'template'),
    'cluster': ('virtual:cluster', {'cluster_template_id': 'kubernetes', 'node_count': 1},
                'cluster_template_id'),
}


def _make(manager, resource_type, request, caller=None):
    return manager.create(builders.a_lease(records.ReservationRequest(resource_type, request),
                                           **LATER), caller)


@pytest.mark.parametrize('case', WITHOUT.values(), ids=WITHOUT)
def test_a_lease_that_never_acts_as_its_owner_has_no_trust(enrolled, case):
    lease = _make(enrolled, *case)
    assert (lease.trust_id, acts.trusts(enrolled)) == (None, [])
    enrolled.expect(lease, lifecycle.ACTIVE, NOON + HOURS(2) + builders.minutes(30))
    enrolled.expect(lease, lifecycle.TERMINATED, NOON + HOURS(4))


@pytest.mark.parametrize('case', WITHOUT.values(), ids=WITHOUT)
@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_trust_required_demands_a_trust_of_each_lease(enrolled, case):
    enrolled.cloud.fail('keystone.create_trust', 1, REFUSED)
    with pytest.raises(errors.TrustRefused):
        _make(enrolled, *case)
    assert _make(enrolled, *case).trust_id is not None


@pytest.mark.parametrize('case', thinning.few(WITH.values(), 4, is_tuple=True), ids=WITH)
def test_a_lease_that_acts_as_its_owner_has_a_trust(enrolled, case):
    resource_type, request, needed = case
    lease = _make(enrolled, resource_type, request)
    assert [trust.id for trust in acts.trusts(enrolled)] == [lease.trust_id]
    enrolled.delete(lease)
    enrolled.run_until(NOON + HOURS(1))
    assert acts.trusts(enrolled) == []
    enrolled.cloud.fail('keystone.create_trust', 1, REFUSED)
    if needed is None:
        assert _make(enrolled, resource_type, request).trust_id is None
        return
    with pytest.raises(errors.BadField, match=f'^{needed}: .*It cannot.*from a password'):
        _make(enrolled, resource_type, request)


def recorded(manager):
    """The rows of the recorded trusts."""
    with manager.database.reader() as connection:
        return connection.execute(tables.TRUSTS.select()).all()


def test_a_trust_that_would_expire_with_another_one_gets_another_moment(enrolled, monkeypatch):
    drawn = iter(range(0, 10_000_000, 1_000_000))
    monkeypatch.setattr(secrets, 'randbelow', lambda limit: next(drawn))
    enrolled.cloud.fail('keystone.create_trust', 2, COLLIDES)
    lease = _make(enrolled, 'virtual:network', SUBNET)
    [trust], [row] = acts.trusts(enrolled), recorded(enrolled)
    assert (trust.id, row.trust_id) == (lease.trust_id, lease.trust_id)
    # The third moment was accepted.
    assert row.expires_at == trust.expires_at
    assert next(drawn) == 3_000_000


def test_a_lease_is_refused_if_its_trust_collides_at_each_moment(enrolled):
    enrolled.cloud.fail('keystone.create_trust', 5, COLLIDES)
    with pytest.raises(errors.CloudError, match='Keystone: it refused 5 trusts') as refused:
        _make(enrolled, 'virtual:network', SUBNET)
    assert 'another user' not in refused.value.owner_message
    assert (acts.trusts(enrolled), recorded(enrolled)) == ([], [])
    assert _make(enrolled, 'virtual:network', SUBNET).trust_id is not None


def test_a_change_that_first_acts_as_the_owner_gets_a_trust(enrolled):
    lease = _make(enrolled, 'virtual:network', {})
    changed = enrolled.change_reservation(lease, **SUBNET)
    assert [trust.id for trust in acts.trusts(enrolled)] == [changed.trust_id]
    enrolled.run_until(NOON + HOURS(4))
    assert (enrolled.lease(lease).state, acts.trusts(enrolled)) == (lifecycle.TERMINATED, [])


def test_a_change_that_needs_the_owner_is_refused_if_keystone_makes_no_trust(enrolled):
    lease = _make(enrolled, 'virtual:network', {})
    enrolled.cloud.fail('keystone.create_trust', 1, REFUSED)
    with pytest.raises(errors.BadField, match=r'^subnet: .*It cannot.*from a password'):
        enrolled.change_reservation(lease, **SUBNET)
    assert (enrolled.lease(lease), acts.trusts(enrolled)) == (lease, [])


def test_a_change_that_needs_the_owner_is_refused_if_somebody_else_makes_it(enrolled):
    lease = _make(enrolled, 'virtual:network', {})
    with pytest.raises(errors.BadField, match=r'^subnet: .*only its owner can give one'):
        enrolled.change_reservation(lease, caller=builders.a_member('eve'), **SUBNET)
    assert (enrolled.lease(lease), acts.trusts(enrolled)) == (lease, [])


def test_a_change_that_may_act_as_the_owner_goes_without_a_trust_if_somebody_else_makes_it(
        enrolled):
    lease = _make(enrolled, *WITHOUT['instances'])
    changed = enrolled.change_reservation(lease, caller=builders.a_member('eve'), affinity=True)
    assert (changed.trust_id, acts.trusts(enrolled)) == (None, [])
    [group] = enrolled.cloud.leftovers()['server_groups']
    assert group[-1] == 'demo'


def test_the_trust_of_a_change_that_cannot_be_booked_is_dropped(enrolled):
    lease = _make(enrolled, *WITHOUT['hosts'])
    with pytest.raises(errors.NotEnough):
        enrolled.change_reservation(lease, before_end='snapshot', min=9, max=9)
    assert (enrolled.lease(lease), acts.trusts(enrolled)) == (lease, [])


def test_a_dry_run_of_a_change_makes_no_trust(enrolled):
    lease = _make(enrolled, *WITHOUT['hosts'])
    enrolled.change(lease, dry_run=True,
                    reservations=acts.asked(lease.reservations[0], before_end='snapshot'))
    assert acts.trusts(enrolled) == []
