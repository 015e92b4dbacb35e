# SPDX-License-Identifier: Apache-2.0
"""A cloud with Blazar and its leases, which Climate is to replace."""
import collections
from concurrent import futures
import contextlib
import datetime

import blazar_fleet as fleets
import blazar_service
from keystoneauth1 import exceptions
import leaks
import scene as scenes

KINDS = (*leaks.COMPUTE, 'addresses')
#: An hour of the fleet becomes at least this much when Blazar stops.
HOUR_SECONDS = 45
_DATE = '%Y-%m-%d %H:%M'


class BlazarCloud:
    """A cloud whose reservation service is Blazar.

    :ivar ids: {name of a lease: its id}.
    :ivar servers: {name of a lease: its first server, as the administrator sees it}.
    :ivar targets: {name of a lease: what `target` returns}.
    :ivar hour_seconds: how long an hour of the fleet takes after `hasten`.
    """

    def __init__(self, scene, folder):
        self.scene, self.cloud, self.admin = scene, scene.settings, scene.people['admin']
        self.blazar = blazar_service.Blazar(self.cloud, scene.people)
        self.ids, self.servers, self.targets = {}, {}, {}
        self.hour_seconds = HOUR_SECONDS
        self._folder = folder
        self._flavor = self._began = None

    def switch_filter(self):
        """Give the scheduler the filter of Blazar, and nova-api its own pipelines."""
        extra = self._folder / 'blazar-filter.conf'
        extra.write_text(blazar_service.FILTER)
        blazar_service.restart_nova(
            self.cloud, CLOUD_NOVA_EXTRA=extra,
            CLOUD_NOVA_PASTE=self.cloud.venv / 'etc' / 'nova' / 'api-paste.ini')

    def start(self):
        """Start Blazar with all hosts and some addresses; Nova gets Blazar's filter."""
        self.switch_filter()
        self.blazar.create()
        self.blazar.start()
        self._create_flavor()
        for name, properties in fleets.HOSTS.items():
            self.blazar.request('POST', 'os-hosts', {'name': name, **properties})
        self.network_id = self.admin.network.find_network('public').id
        for address in fleets.ADDRESSES:
            self.blazar.request('POST', 'floatingips', {
                'floating_network_id': self.network_id, 'floating_ip_address': address})

    def _create_flavor(self):
        """Create a flavor that only compute4 can take."""
        placement, admin = self.admin.placement, self.admin
        placement.put(f'/traits/{fleets.TRAIT}', microversion='1.6')
        [provider] = placement.resource_providers(name='compute4')
        traits = f'/resource_providers/{provider.id}/traits'
        found = placement.get(traits, microversion='1.6').json()
        placement.put(traits, json=found | {'traits': [*{*found['traits'], fleets.TRAIT}]},
                      microversion='1.6')
        self._flavor = admin.compute.create_flavor(name=self.scene.name(), vcpus=1, ram=64, disk=1)
        self.scene.afterwards(lambda: admin.compute.delete_flavor(self._flavor))
        admin.compute.create_flavor_extra_specs(self._flavor, {f'trait:{fleets.TRAIT}': 'required'})

    def fill(self):
        """Create the fleet, and wait until it is in the states that Blazar itself gives it."""
        now = datetime.datetime.now(scenes.UTC)
        self._began = now.replace(tzinfo=None, second=0, microsecond=0)
        self._create(fleets.over(self._flavor.id, self.network_id))
        ended = list(self.ids)
        self.wait(ended, 'ACTIVE')
        self.end(ended)
        self._create(fleets.all_leases(self._flavor.id, self.network_id))
        for name in fleets.BROKEN:
            self._break(name)
        self.wait(fleets.ACTIVE, 'ACTIVE')
        self.wait(fleets.BROKEN, 'ERROR')
        self.servers |= self.boots(fleets.WITH_SERVER)

    def _create(self, planned):
        """Create leases; those of one type one after the other, as Blazar's plugins need it."""
        by_type = collections.defaultdict(list)
        for lease in planned:
            by_type[lease.reservations[0]['resource_type']].append(lease)
        with futures.ThreadPoolExecutor() as pool:
            list(pool.map(self._create_leases, by_type.values()))

    def _create_leases(self, planned):
        for lease in planned:
            start, end = lease.hours
            made = self.blazar.request('POST', 'leases', {
                'name': lease.name, 'reservations': [dict(each) for each in lease.reservations],
                'start_date': f'{self._after(start):{_DATE}}' if start else 'now', 'events': [],
                'end_date': f'{self._after(end):{_DATE}}'}, lease.person)
            self.ids[lease.name] = made['id']

    def _after(self, hours):
        return self._began + datetime.timedelta(hours=hours)

    def _break(self, name):
        """Delete the aggregate of a pending lease, which then fails to start."""
        self.admin.compute.delete_aggregate(self.scene.aggregate(self.target(name)[0]))
        self._move(name, 'start', self._began)

    def end(self, names):
        """End leases in Blazar, and wait for that."""
        for name in names:
            self.blazar.request('PUT', f'leases/{self.ids[name]}', {'end_date': 'now'})
        self.wait(names, 'TERMINATED')

    def delete(self, names):
        """Delete leases in Blazar."""
        for name in names:
            self.blazar.request('DELETE', f'leases/{self.ids[name]}')

    def _move(self, name, edge, moment):
        """Change the start or the end of a lease in Blazar's database."""
        self.blazar.sql(f'UPDATE leases SET {edge}_date = %s WHERE id = %s', moment, self.ids[name])
        self.blazar.sql('UPDATE events SET time = %s WHERE lease_id = %s AND event_type = %s',
                        moment, self.ids[name], f'{edge}_lease')

    def wait(self, names, status):
        """Wait until Blazar shows all of these leases with a status."""
        wanted = {self.ids[name] for name in names}

        def reached():
            statuses = {each['id']: each['status'] for each in self.blazar.read('leases')}
            return all(statuses[lease_id] == status for lease_id in wanted)
        scenes.until(reached, f'the leases {", ".join(names)} to be {status} in Blazar', 900, 1)

    def target(self, name):
        """Return (reservation id, resource type, server group id) of a lease of hosts or sizes."""
        if name not in self.targets:
            [row] = self.blazar.sql(
                'SELECT r.id, r.resource_type, i.server_group_id FROM reservations r '
                'LEFT JOIN instance_reservations i ON i.reservation_id = r.id '
                "WHERE r.lease_id = %s AND r.resource_type <> 'virtual:floatingip'", self.ids[name])
            self.targets[name] = (row['id'], row['resource_type'], row['server_group_id'])
        return self.targets[name]

    def boot(self, name, wait=True, person=None):
        """Boot a server of a lease, as its user does."""
        reservation_id, resource_type, group_id = self.target(name)
        person = person or ('alt' if name.startswith('of-alt') else 'demo')
        if resource_type == 'physical:host':
            return self.scene.boot(person, reservation_id, wait)
        return self.scene.boot(person, wait=wait, flavor=reservation_id, group=group_id)

    def boots(self, names):
        """Boot a server of each running lease, and check its host; return {name: server}."""
        hosts = {name: self.scene.hosts_in(self.target(name)[0]) for name in names}
        booted = {name: self.boot(name, wait=False) for name in names}
        for name, server in booted.items():
            booted[name] = self.scene.booted(server.id)
            assert booted[name].status == 'ACTIVE', (name, booted[name].fault)
            assert booted[name].compute_host in hosts[name], (name, booted[name].compute_host)
        return booted

    def stop(self):
        """Stop Blazar as if it crashed in the middle of some leases."""
        self.blazar.stop()
        for name, crash in fleets.CRASHES.items():
            self._crash(self.ids[name], crash)
            if crash == fleets.TERMINATING:
                self._move(name, 'end', datetime.datetime.now(scenes.UTC).replace(tzinfo=None))
        for name in ('sized-starting', 'flavor-starting'):
            self._move(name, 'start', self._began)
        self._move('doubled-second', 'start', self._after(130))
        self._move('doubled-second', 'end', self._after(131))

    def _crash(self, lease_id, crash):
        self.blazar.sql('UPDATE leases SET status = %s WHERE id = %s', crash.status, lease_id)
        self.blazar.sql('UPDATE reservations SET status = %s WHERE lease_id = %s',
                        crash.reservation, lease_id)
        for kind, status in (('start_lease', crash.start), ('end_lease', crash.end)):
            if status:
                self.blazar.sql('UPDATE events SET status = %s WHERE lease_id = %s '
                                'AND event_type = %s', status, lease_id, kind)
        if crash.start is None:
            self.blazar.sql('DELETE FROM events WHERE lease_id = %s', lease_id)

    def hasten(self, command_seconds):
        """Move all future dates of Blazar's database closer, so that an hour takes `hour_seconds`.

        :param command_seconds: how long a command takes on this machine now.
        """
        self.hour_seconds = max(HOUR_SECONDS, round(5 * command_seconds))
        for table, column in (('leases', 'start_date'), ('leases', 'end_date'), ('events', 'time')):
            self.blazar.sql(
                f'UPDATE {table} SET {column} = TIMESTAMPADD(SECOND, TIMESTAMPDIFF(SECOND, %s, '
                f'{column}) * {self.hour_seconds} DIV 3600, UTC_TIMESTAMP()) WHERE {column} > %s',
                self._began, self._began + datetime.timedelta(hours=1))

    def state(self):
        """Return the objects in the cloud that leases create, in a form that can be compared."""
        return leaks.snapshot(self.admin, KINDS)

    def trusts(self, names):
        """Return the ids of the trusts that leases have in Blazar's database."""
        return {row['trust_id'] for name in names for row in self.blazar.sql(
            'SELECT trust_id FROM leases WHERE id = %s', self.ids[name])}

    def forget(self):
        """Remove Blazar, and the objects of its leases that a failed test left."""
        self.blazar.stop()
        self.blazar.drop()
        compute, placement = self.admin.compute, self.admin.placement
        left = {each.name: each for each in compute.aggregates()
                if each.name == 'freepool' or str(each.availability_zone).startswith('blazar_')
                or 'blazar:owner' in (each.metadata or {})}
        for server in compute.servers(all_projects=True):
            self.scene.remove(server.id)
        for name, aggregate in left.items():
            for host in aggregate.hosts or ():
                compute.remove_host_from_aggregate(aggregate, host)
            if name != 'freepool':
                compute.delete_aggregate(aggregate)
        for flavor in compute.flavors(is_public=None):
            if flavor.name.startswith('reservation:'):
                compute.delete_flavor(flavor)
        for group in compute.server_groups(all_projects=True):
            compute.delete_server_group(group)
        for provider in placement.resource_providers():
            if provider.name.startswith('blazar_'):
                placement.delete_resource_provider(provider)
        for name in leaks.snapshot(self.admin, ['classes'])['classes']:
            if name.startswith('CUSTOM_RESERVATION_'):
                placement.delete(f'/resource_classes/{name}', microversion='1.2')
        for image in self.admin.image.images():
            if image.name.startswith('reserved_'):
                self.admin.image.delete_image(image)
        for address in self.admin.network.ips(tags='blazar'):
            self.admin.network.delete_ip(address)
        for trust_id in self.scene.trusts():
            for person in self.scene.people.values():
                with contextlib.suppress(exceptions.ClientException):
                    person.session.delete(f'{leaks.TRUSTS}/{trust_id}',
                                          endpoint_filter={'service_type': 'identity'})
        blazar_service.restart_nova(self.cloud)
