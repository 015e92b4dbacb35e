# SPDX-License-Identifier: Apache-2.0
"""Hosts of the real cloud are cleared for best-effort leases and returned to their lender."""
from openstack import exceptions
import pytest
import scene as scenes

DEMO_HOSTS = 2


class Lent:
    """Three lent hosts with two servers of project alt on each, and one that is leased.

    :ivar hosts: the names of the three.
    :ivar servers: the ids of the six.
    """

    def __init__(self, scene, hosts):
        self.hosts = hosts
        self._scene = scene
        self._compute = scene.people['admin'].compute
        self.servers = {server_id for host in hosts for server_id in self._settled(host)}

    def on(self, host):
        """The ids of its servers of project alt."""
        return {key for key, server in self.seen().items() if server.compute_host == host}

    def seen(self):
        """{id: server} of the six as an admin sees them."""
        return {each.id: each for each in self._compute.servers(all_projects=True)
                if each.id in self.servers}

    def disabled(self):
        """{host: why its service is disabled}."""
        return {each.host: each.disabled_reason for each in self._compute.services(
            binary='nova-compute') if each.status != 'enabled'}

    def open(self, host):
        """Enable the service of a host, as an administrator who wants it back."""
        [service] = self._compute.services(binary='nova-compute', host=host)
        self._compute.enable_service(service)

    def stop_one_each(self):
        """Stop one of the two servers of each host; returns the ids of the stopped ones."""
        stopped = {min(self.on(host)) for host in self.hosts}
        for each in stopped:
            self._compute.stop_server(each)
        scenes.until(lambda: {key for key, server in self.seen().items()
                              if server.status == 'SHUTOFF'} == stopped, 'three stopped servers')
        return stopped

    def refuse_harm(self, stopped=frozenset()):
        """Assert that all six servers run on open hosts, except those that were stopped before."""
        assert {key: each.status for key, each in self.seen().items()} == {
            key: 'SHUTOFF' if key in stopped else 'ACTIVE' for key in self.servers}
        assert self.disabled() == {}

    def _settled(self, host):
        """The ids of two new servers on a host."""
        made = [self._boot_on(host) for _ in range(2)]
        for each in made:
            server = self._scene.booted(each)
            assert server.compute_host == host, server.fault
        return made

    def _boot_on(self, host):
        # Only an administrator may name a host: the others are closed for a moment instead.
        image = self._scene.people['alt'].image.find_image('tiny').id
        closed = [each for each in self._compute.services(binary='nova-compute')
                  if each.host in self.hosts and each.host != host]
        for each in closed:
            self._compute.disable_service(each, disabled_reason='test')
        try:
            alt = self._scene.people['alt']
            made = alt.compute.create_server(
                name=self._scene.name(), image_id=image,
                flavor_id=alt.compute.find_flavor('m1.nano').id, networks='none')
            self._scene.remember_server(made.id)
            self._scene.booted(made.id)
            return made.id
        finally:
            for each in closed:
                self._compute.enable_service(each)


@pytest.fixture
def lent(scene, cloud):
    """Three of the four hosts are lent and in use; the last one is enrolled, and leased."""
    names = cloud.compute_hosts[:3]
    compute = scene.people['admin'].compute
    hosts = scene.climate('admin').hosts
    for name in names:
        hosts.delete(hosts.find(name)['id'])
        scene.afterwards(lambda name=name: hosts.create(name, {'rack': 'left'}))
    aggregate = compute.create_aggregate(name='lent')

    def take_down():
        for name in names:
            compute.remove_host_from_aggregate(aggregate, name)
        compute.delete_aggregate(aggregate)
    scene.afterwards(take_down)
    for name in names:
        compute.add_host_to_aggregate(aggregate, name)
    scene.lease('alt', duration='30m')
    # A lease is deleted before the hosts that were lent to it are returned.
    scene.afterwards(lambda: _await_return(scene, cloud))
    return Lent(scene, names)


@pytest.fixture
def best_effort(scene):
    """callable(hosts, **acquire): the answer to a request for a best-effort lease."""
    def ask(hosts=DEMO_HOSTS, seconds=120, query='', **acquire):
        answer = scene.people['demo'].session.post(
            f'/v1/leases{query}', raise_exc=False, endpoint_override=_endpoint(scene),
            headers={'OpenStack-API-Version': 'reservation 1.1'}, json={
                'name': scene.name(), 'duration': '10m', 'acquire': {
                    'type': 'best-effort', 'timeout_seconds': seconds, **acquire},
                'reservations': [{'resource_type': 'physical:host', 'min': hosts,
                                  'max': hosts}]})
        if answer.status_code == 202:
            scene.remember(answer.json()['lease']['id'])
        return answer
    return ask


def _await_return(scene, cloud):
    """Wait until the lent hosts are returned."""
    scenes.until(lambda: [each['hypervisor_hostname'] for each in
                          scene.climate('admin').hosts.list()] == [cloud.compute_hosts[-1]],
                 'the lent hosts to be returned')


def _endpoint(scene):
    found = scene.people['demo'].session.get_endpoint(service_type='reservation')
    return found.removesuffix('/').removesuffix('/v1')


def test_two_hosts_are_cleared_used_and_lent_again(scene, lent, best_effort, cloud):
    shown = best_effort(query='?dry_run=true')
    assert shown.status_code == 200, shown.text
    lent.refuse_harm()
    answer = best_effort()
    assert answer.status_code == 202, answer.text
    lease = answer.json()['lease']
    assert lease['status'] == 'in_progress'
    lease = scene.wait(lease['id'], 'active', 120)
    reservation = lease['reservations'][0]['id']
    mine = scene.hosts_in(reservation)
    assert len(mine) == DEMO_HOSTS and mine < set(lent.hosts)
    [left] = set(lent.hosts) - mine
    assert lent.on(left) == lent.servers
    lent.refuse_harm()
    inside = scene.boot('demo', reservation)
    assert (inside.status, inside.compute_host in mine) == ('ACTIVE', True)
    scene.climate().leases.update(lease['id'], end='now')
    scene.wait(lease['id'], 'terminated')
    _await_return(scene, cloud)
    assert scene.hosts_in('freepool') == set()
    assert scene.hosts_in('lent') == set(lent.hosts)
    lent.refuse_harm()
    assert scene.boot('alt').compute_host in lent.hosts


def test_a_pinned_server_keeps_its_host_and_too_many_move_nothing(scene, lent, best_effort):
    pinned = lent.hosts[0]
    [server_id, _] = sorted(lent.on(pinned))
    scene.people['admin'].compute.set_server_metadata(server_id, **{'climate:pinned': 'yes'})
    before = {key: each.compute_host for key, each in lent.seen().items()}
    refused = best_effort(3)
    assert refused.status_code == 409
    # Only administrators read which servers block the lease, and why.
    assert 'Only 2 of 3 hosts can be allocated' in refused.json()['error_message']
    assert server_id not in refused.text
    lent.refuse_harm()
    assert {key: each.compute_host for key, each in lent.seen().items()} == before
    answer = best_effort(2)
    assert answer.status_code == 202, answer.text
    lease = scene.wait(answer.json()['lease']['id'], 'active', 120)
    assert scene.hosts_in(lease['reservations'][0]['id']) == set(lent.hosts) - {pinned}
    assert lent.on(pinned) == lent.servers
    lent.refuse_harm()


def test_a_host_that_an_administrator_opens_meanwhile_is_left_to_him(scene, lent, best_effort):
    answer = best_effort(1)
    assert answer.status_code == 202, answer.text
    [opened] = scenes.until(lent.disabled, 'a disabled service')
    lent.open(opened)
    lease = scene.wait(answer.json()['lease']['id'], 'active', 120)
    [mine] = scene.hosts_in(lease['reservations'][0]['id'])
    assert mine in set(lent.hosts) - {opened}
    lent.refuse_harm()


def test_stopped_servers_stay_stopped_and_a_host_goes_back_before_the_end(scene, lent, best_effort):
    stopped = lent.stop_one_each()
    answer = best_effort(2)
    assert answer.status_code == 202, answer.text
    lease = scene.wait(answer.json()['lease']['id'], 'active', 120)
    [reservation] = lease['reservations']
    before = scene.hosts_in(reservation['id'])
    assert len(before) == 2
    lent.refuse_harm(stopped)
    scene.climate().leases.update(lease['id'], reservations=[
        {'id': reservation['id'], 'min': 1, 'max': 1}])
    [kept] = scenes.until(lambda: (found := scene.hosts_in(reservation['id'])) < before and found,
                          'a host to leave the lease')
    [gone] = before - {kept}
    scenes.until(lambda: gone not in [each['hypervisor_hostname'] for each in
                                      scene.climate('admin').hosts.list()], 'it to be returned')
    assert scene.hosts_in('freepool') == set()
    lent.refuse_harm(stopped)


@pytest.fixture
def slowly(cloud, tmp_path):
    """Live migrations take a minute each."""
    path = tmp_path / 'seconds'
    path.write_text('60')
    scenes.run(cloud, scenes.PYTHON, '-m', 'tools.cloud', 'restart', 'nova',
               CLOUD_MIGRATE_SECONDS=str(path))
    yield
    scenes.tool(cloud, 'restart', 'nova')


def test_services_are_enabled_and_every_server_runs_when_time_is_over(
        scene, lent, best_effort, slowly):
    # Nova restarts and does not answer at once.
    scenes.until(lambda: _is_up(scene, lent), 'Nova to be back', 90, 1)
    answer = best_effort(2, seconds=20)
    assert answer.status_code == 202, answer.text
    lease = answer.json()['lease']
    scenes.until(lambda: len(lent.disabled()) == DEMO_HOSTS, 'two disabled services', 30)
    lease = scene.wait(lease['id'], 'timedout', 60)
    assert 'of 2 hosts were cleared' in lease['status_reason']
    assert lent.disabled() == {}
    scenes.until(lambda: {each.status for each in lent.seen().values()} == {'ACTIVE'},
                 'every server to run', 180, 1)
    lent.refuse_harm()


def _is_up(scene, lent):
    try:
        return lent.disabled() == {} and all(
            each.state == 'up' for each in scene.people['admin'].compute.services(
                binary='nova-compute'))
    except exceptions.SDKException:
        return False
