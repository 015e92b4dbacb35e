# SPDX-License-Identifier: Apache-2.0
"""Each way in which a server on leased hosts can disappear: never before its image is active."""
import acts
import pytest
import stacks
from support import builders

from climate import errors
from climate.domain import lifecycle
from climate.domain import records

NOON, hours, minutes = builders.NOON, builders.hours, builders.minutes
END = NOON + hours(4)
HINTED = stacks.template({'hints': {'type': 'json', 'default': {}}},
                         vm=stacks.server(flavor='2', scheduler_hints={'get_param': 'hints'}))


@pytest.fixture
def slow(conf, database, clock):
    """A manager with six hosts, on a cloud whose images take ten minutes and stacks a minute."""
    conf.set_override('image_seconds', 600, group='simulated')
    conf.set_override('stack_seconds', 60, group='simulated')
    conf.set_override('image_seconds', 720, group='physical:host')
    found = builders.Manager(conf, database, clock)
    found.enrol(6)
    return found


def _hosts(count=1, **more):
    request = builders.hosts(count, **{'before_end': 'snapshot', **more}).request
    return records.ReservationRequest('physical:host', request, label='metal')


def _hinted(**more):
    """A stack with a server on the hosts of its lease."""
    return records.ReservationRequest('virtual:stack', {
        'template': HINTED, 'hint_parameter': 'hints', **more}, depends_on=('metal',))


def _cluster():
    """A new cluster, whose driver may place nodes on the hosts of the lease."""
    return records.ReservationRequest('virtual:cluster', {
        'cluster_template_id': 'kubernetes', 'node_count': 1}, depends_on=('metal',))


def _running(manager, *reservations):
    """The running lease of these reservations, the first of which has hosts."""
    lease = manager.book(*reservations, end=END)
    return manager.expect(lease, lifecycle.ACTIVE, NOON + minutes(5))


def _metal(lease):
    [found] = [each for each in lease.reservations if each.resource_type == 'physical:host']
    return found


def _boot(manager, lease, name='vm', project='demo', **more):
    return manager.cloud.boot(project, name, {'reservation': _metal(lease).id}, **more)


def _alone(manager):
    lease = _running(manager, _hosts())
    _boot(manager, lease)
    return lease


def _stack(manager):
    return _running(manager, _hosts(), _hinted())


def _stack_beside(manager):
    """A stack that does not depend on the hosts; its owner booted onto them later."""
    lease = _running(manager, _hosts(), stacks.asked())
    _boot(manager, lease)
    return lease


def _two_stacks(manager):
    return _running(manager, _hosts(), _hinted(), _hinted())


def _suspended_stack(manager):
    return _running(manager, _hosts(), _hinted(on_end='suspend'))


def _remaining_stack(manager):
    return _running(manager, _hosts(), _hinted(on_end='leave'))


def _cluster_beside(manager):
    lease = _running(manager, _hosts(), _cluster())
    _boot(manager, lease, 'node')
    return lease


def _capacity(manager):
    """An administrator moved a server of the lease's capacity for instances onto its hosts."""
    lease = _running(manager, _hosts(), builders.instances())
    [host] = acts.nova(manager).aggregate(_metal(lease).id).hosts
    _boot(manager, lease, flavor=lease.reservations[1].id, host=host, forced=True)
    return lease


def _shared(manager):
    """A stack, and a server of another project that the hosts are shared with."""
    lease = _stack(manager)
    manager.cloud.share_aggregate(_metal(lease).id, 'other')
    _boot(manager, lease, project='other')
    return lease


SCENES = [_alone, _stack, _stack_beside, _two_stacks, _suspended_stack, _remaining_stack,
          _cluster_beside, _capacity, _shared]


def _end(manager, lease):
    manager.change(lease, end_now=True)


def _run_out(manager, lease):
    manager.clock.now = END


def _there(manager, lease):
    """The servers on the hosts of a lease, as {id: project}."""
    known = acts.nova(manager).aggregate(_metal(lease).id)
    return {each.id: each.project_id for each in manager.cloud.servers()
            if known and each.host in known.hosts}


def _imaged(manager):
    """{server id: project of its active image}."""
    return {each['server_id']: each['project_id'] for each in manager.cloud.images()
            if each['status'] == 'active'}


def _watched(manager, until, servers):
    """Run until a moment; each of these servers is there until its image is active."""
    while manager.clock() < until:
        manager.run_until(manager.clock() + minutes(1))
        there = {each.id for each in manager.cloud.servers()}
        assert set(servers) - there <= set(_imaged(manager))


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('leave', [
    pytest.param(_end, marks=pytest.mark.proof), builders.Manager.delete,
    pytest.param(_run_out, marks=pytest.mark.proof)])
@pytest.mark.parametrize('scene', SCENES)
def test_no_server_disappears_at_an_end_before_its_image_is_active(slow, scene, leave):
    lease = scene(slow)
    servers = _there(slow, lease)
    assert servers
    leave(slow, lease)
    _watched(slow, slow.clock() + minutes(25), servers)
    assert _imaged(slow) == servers
    assert not set(servers) & {each.id for each in slow.cloud.servers()}
    assert len(acts.freepool(slow)) == 6
    if leave is not builders.Manager.delete:
        assert slow.lease(lease).state == lifecycle.TERMINATED, slow.lease(lease).reason


def _host_of_the_server(manager, lease):
    """The name of the host of the lease that has its server."""
    [host] = {each.host for each in manager.cloud.servers()
              if each.host in acts.nova(manager).aggregate(_metal(lease).id).hosts}
    return host


def _shrink(manager, lease):
    host = _host_of_the_server(manager, lease)
    manager.change_reservation(lease, min=1, max=1, resource_properties=(
        f'["!=", "$hypervisor_hostname", "{host}"]'))


def _swap(manager, lease):
    manager.client.swap_resource(builders.a_member(), lease.id,
                                 _host_of_the_server(manager, lease), _metal(lease).id)


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('change', [_shrink, _swap])
@pytest.mark.parametrize('more', [(), (_hinted(),)])
def test_no_server_disappears_by_a_change_before_its_image_is_active(slow, more, change):
    lease = _running(slow, _hosts(2), *more)
    if not more:
        _boot(slow, lease)
    servers = _there(slow, lease)
    change(slow, lease)
    _watched(slow, slow.clock() + minutes(25), servers)
    assert _imaged(slow) == servers
    lease = slow.lease(lease)
    assert (lease.state, lease.task) == (lifecycle.ACTIVE, None), lease.reason
    # What the owner sees in the stack then is what Nova says.
    assert len(slow.cloud.stacks()) == len(more)


@pytest.mark.proof
def test_a_host_with_a_server_of_a_lease_is_not_withdrawn(slow):
    lease = _stack(slow)
    [host_id] = _metal(lease).resource_ids
    with pytest.raises(errors.ResourceInUse):
        slow.client.delete_resource(builders.an_admin(), 'host', host_id)
    assert _there(slow, lease)


@pytest.mark.proof
def test_images_made_before_the_end_serve_the_stack_too(slow):
    lease = _stack(slow)
    servers = _there(slow, lease)
    slow.expect(lease, lifecycle.TERMINATED, END + minutes(5))
    assert [each['server_id'] for each in slow.cloud.images()] == [*servers]


@pytest.mark.usefixtures('rare_polls')
@pytest.mark.parametrize('fault', [
    'lost', *(pytest.param(each, marks=pytest.mark.proof) for each in ('refused', 'stuck'))])
def test_a_stack_stays_while_its_server_has_no_image(slow, fault):
    lease = _stack(slow)
    [key] = _there(slow, lease)
    slow.cloud.spoil_images(key, fault)
    _end(slow, lease)
    slow.run_until(NOON + minutes(45))
    assert [each.status for each in slow.cloud.stacks()] == ['CREATE_COMPLETE']
    assert [*_there(slow, lease)] == [key]
    lease = slow.lease(lease)
    assert lease.state == lifecycle.ERROR
    assert f'no image of server vm ({key})' in lease.reason
    # The way out: the owner deletes the server, and the lease.
    slow.cloud.delete_server(key)
    slow.delete(lease)
    slow.run_until(NOON + minutes(55))
    assert slow.cloud.stacks() == []
    assert acts.is_clean(slow, 6)


@pytest.mark.proof
def test_a_stack_is_deleted_without_images_if_the_lease_says_so(slow):
    lease = _running(slow, _hosts(on_image_failure='delete'), _hinted())
    [key] = _there(slow, lease)
    slow.cloud.spoil_images(key, 'stuck')
    lease = slow.expect(lease, lifecycle.TERMINATED, END + hours(3))
    assert lease.reason.count(f'Server vm ({key}) is deleted without an image') == 1
    assert slow.cloud.stacks() == []
    assert acts.is_clean(slow, 6)


@pytest.mark.usefixtures('rare_polls')
def test_a_stack_whose_hosts_ask_for_no_images_ends_at_once(slow):
    lease = _running(slow, _hosts(before_end=''), _hinted())
    slow.expect(lease, lifecycle.TERMINATED, END + minutes(5))
    assert slow.cloud.images() == []
