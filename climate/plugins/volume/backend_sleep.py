# SPDX-License-Identifier: Apache-2.0
"""Sleep of storage back ends: their service is disabled in Cinder meanwhile.

The machine of a back end is the host before the "@" in Cinder's name of the back end. A machine can
have several back ends, and other services of Cinder.
"""
from climate.plugins import sleepable
from climate.plugins.volume import names


class SleepingBackends(sleepable.Sleepable):
    """The methods of the pool of storage back ends for the sleep of back ends."""

    def machine(self, name):
        return _machine(name)

    def close_for_sleep(self, cloud, resources):
        hosts = cloud.as_service().storage_hosts
        return all(hosts.disable(host, sleepable.REASON) for host in _service_hosts(resources))

    def open_after_sleep(self, cloud, resources):
        for host in _service_hosts(resources):
            cloud.as_service().storage_hosts.enable(host, sleepable.REASON)

    def in_use(self, cloud, resources):
        services, machine = cloud.as_service(), _machine(resources[0].name)
        hosts = services.storage_hosts
        reason = _why_served(hosts, machine, _service_hosts(resources))
        if reason is not None:
            return reason
        not_enrolled = {backend.name for backend in services.volumes.backends()
                        if _machine(backend.name) == machine} - {each.name for each in resources}
        if not_enrolled:
            return f'{min(not_enrolled)} is on its machine, too, and is not enrolled'
        for noun, things in (('volumes', hosts.volumes_on(machine)),
                             ('snapshots', hosts.snapshots_on(machine))):
            if things:
                return f'{noun} are on it ({len(things)})'
        arriving = self._arriving(services, resources)
        return f'volumes may come to it ({len(arriving)})' if arriving else None

    def works(self, cloud, resources):
        up = {service.host for service in _volume_services(cloud.as_service().storage_hosts)
              if service.up}
        return {each.id for each in resources if _service_host(each.name) in up}

    def ready(self, cloud, resources):
        # Cinder's scheduler lists a back end after the first report of its service.
        listed = {backend.name for backend in cloud.as_service().volumes.backends()}
        closed = {service.host for service in _volume_services(cloud.as_service().storage_hosts)
                  if not service.enabled or service.frozen}
        return {each.id for each in resources
                if each.name in listed or _service_host(each.name) in closed}

    @staticmethod
    def zones(services):
        """Return a callable(name of a back end) → its availability zone or None."""
        host_zones = {service.host: service.zone
                      for service in _volume_services(services.storage_hosts)}
        return lambda name: host_zones.get(_service_host(name))

    @staticmethod
    def asleep(cloud, backends, resources):
        """Return the Resources that Climate has closed for sleep and that Cinder does not list.

        :param backends: all Backends that Cinder lists.
        """
        listed = {each.name for each in backends}
        missing = [each for each in resources if each.name not in listed]
        if not missing:
            return []
        closed = {service.host for service in _volume_services(cloud.as_service().storage_hosts)
                  if not service.enabled and service.reason == sleepable.REASON}
        return [each for each in missing if _service_host(each.name) in closed]

    @staticmethod
    def _arriving(services, resources):
        """Return the Volumes whose placement is in progress and may choose these back ends."""
        volumes = services.storage_hosts.unplaced_volumes()
        if not volumes:
            return []
        backend_names = {kind.name: kind.extra_specs.get(names.BACKEND_SPEC)
                         for kind in services.volumes.types()}
        own_names = {None, *(each.facts[names.BACKEND_SPEC] for each in resources)}
        # While Cinder retypes a volume, its new type is not known. Count it as arriving.
        return [volume for volume in volumes if volume.status != 'creating'
                or backend_names.get(volume.type_name) in own_names]


def _why_served(hosts, machine, sleeping_hosts):
    """Return why the services on a machine must not stop, in words, or None.

    :param sleeping_hosts: the service hosts of the back ends that may sleep.
    """
    services = {(service.binary, service.host): service for service in hosts.services()
                if _machine(service.host) == machine}
    for (binary, host), service in sorted(services.items()):
        if service.up and (binary != hosts.BINARY or host not in sleeping_hosts):
            return f'the service {binary} of {host} is on its machine, too'
    for host in sleeping_hosts:
        service = services.get((hosts.BINARY, host))
        if service is None:
            return f'Cinder does not know the service {host}'
        # A service that Climate has closed may be down because the machine shuts down.
        if not service.up and service.enabled:
            return f'its service {host} is down'
    return None


def _volume_services(hosts):
    return [service for service in hosts.services() if service.binary == hosts.BINARY]


def _service_hosts(resources):
    return sorted({_service_host(each.name) for each in resources})


def _service_host(name):
    return name.partition('#')[0]


def _machine(name):
    return _service_host(name).partition('@')[0]
