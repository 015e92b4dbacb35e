# SPDX-License-Identifier: Apache-2.0
"""Servers that belong to a lease get no other one: nova-api would ask for it by default."""
import acts
import pytest
import stacks
from support import builders
from support import thinning

from climate import context
from climate import errors
from climate.domain import lifecycle
from climate.domain import records
from climate.rpc import transport

NOON = builders.NOON
TRUST = {'id': 't1', 'trustee_user': {'id': 'climate-id'}, 'trustor_user': {'id': 'demo'},
         'impersonation': True}


def _acting(trust_id):
    """The owner, as Climate or a service acts for them by a trust."""
    return context.RequestContext(
        user_id='demo', project_id='demo', roles=['member'], auth_token='of a trust',
        trust_id=trust_id, trustee_id='somebody', overwrite=False)


def _default_lease(flavor_id='2'):
    """The requests of the WSGI filter of nova-api before a server is created."""
    return builders.a_lease(builders.a_server(flavor_id=flavor_id))


def _cluster():
    return records.ReservationRequest('virtual:cluster', {
        'cluster_template_id': 'kubernetes', 'node_count': 1})


def _running(manager, request):
    lease = manager.book(request)
    return manager.expect(lease, lifecycle.ACTIVE, NOON + builders.minutes(3))


@pytest.fixture
def as_it_is(manager):
    """callable(): all that a request for a lease can change."""
    def seen():
        return acts.everything(manager), acts.trusts(manager), manager.cloud.servers()
    return seen


@pytest.mark.parametrize('required', thinning.few([True, False], 1))
@pytest.mark.parametrize('request_of', [
    stacks.asked, stacks.with_room, _cluster,
    lambda: builders.hosts(1)], ids=['stack', 'stack with capacity', 'cluster', 'hosts'])
def test_a_token_of_the_trust_of_a_lease_makes_no_lease(
        conf, manager, as_it_is, request_of, required):
    conf.set_override('trust_required', required, group='keystone')
    manager.enrol(4)
    _running(manager, request_of())
    before = as_it_is()
    for trust in acts.trusts(manager):
        with pytest.raises(errors.ActsForLease) as refused:
            manager.create(_default_lease(), caller=_acting(trust.id))
        assert (refused.value.code, refused.value.status) == ('acts_for_lease', 403)
    assert as_it_is() == before


def test_a_token_of_a_trust_made_from_that_of_a_lease_makes_no_lease(manager):
    lease = _running(manager, stacks.asked())
    child = manager.cloud.as_user(lease.trust_id).keystone.redelegate()
    with pytest.raises(errors.ActsForLease):
        manager.create(_default_lease(), caller=_acting(child.id))


def test_a_token_of_another_trust_is_no_token_of_a_lease(manager):
    _running(manager, stacks.asked())
    lease = manager.create(_default_lease(), caller=_acting('of somebody else'))
    assert lease.project_id == 'demo'


def test_a_request_of_the_owner_still_makes_a_default_lease(manager):
    _running(manager, stacks.asked())
    assert manager.create(_default_lease()).reservations


def _capacity(manager):
    return _running(manager, builders.instances())


def _flavor_capacity(manager):
    return _running(manager, builders.flavor_instances(flavor_id='2'))


@pytest.mark.parametrize('lease_of', [
    _capacity, _flavor_capacity, lambda manager: _running(manager, stacks.with_room()),
    lambda manager: _running(manager, _cluster())],
    ids=['instances', 'flavor', 'stack', 'cluster'])
def test_a_server_of_a_flavor_of_a_reservation_gets_no_other_lease(manager, as_it_is, lease_of):
    manager.enrol(4)
    [reservation] = lease_of(manager).reservations
    own = [each.id for each in manager.cloud.as_service().flavors.every()
           if each.id.startswith(reservation.id)]
    assert own
    before = as_it_is()
    for flavor_id in own:
        with pytest.raises(errors.ReservedFlavor) as refused:
            manager.create(_default_lease(flavor_id))
        assert f'flavor_id: flavor {flavor_id} belongs to reservation' in refused.value.message
        assert (refused.value.code, refused.value.status) == ('reserved_flavor', 400)
    assert as_it_is() == before


@pytest.mark.parametrize(('environ', 'found'), [
    ({}, (None, None)), ({'keystone.token_info': None}, (None, None)),
    ({'keystone.token_info': {'token': {'user': {'id': 'demo'}}}}, (None, None)),
    ({'keystone.token_info': {'token': {'OS-TRUST:trust': TRUST}}}, ('t1', 'climate-id')),
    ({'HTTP_X_TRUST_ID': 't1', 'HTTP_OS_TRUST': 't1'}, (None, None))])
def test_the_trust_of_a_token_crosses_the_bus(environ, found):
    caller = context.RequestContext.from_environ(environ, overwrite=False)
    serializer = transport.RpcSerializer()
    received = serializer.deserialize_context(serializer.serialize_context(caller))
    assert (received.trust_id, received.trustee_id) == found


@pytest.mark.parametrize(('token', 'found'), [
    ({}, []), ({'roles': [{'id': 'r1', 'name': 'member'}, {'id': 'r2', 'name': 'reader'}]},
               ['r1', 'r2'])])
def test_the_ids_of_the_roles_of_a_token_cross_the_bus(token, found):
    caller = context.RequestContext.from_environ(
        {'keystone.token_info': {'token': token}}, overwrite=False)
    serializer = transport.RpcSerializer()
    assert serializer.deserialize_context(
        serializer.serialize_context(caller)).role_ids == found
