# SPDX-License-Identifier: Apache-2.0
"""Storage back ends that can sleep: Cinder disables their service meanwhile.

Their machine is the host before the "@" of Cinder's name. It can have several back ends, and other
services of Cinder.
"""
from climate.plugins import sleepable
from climate.plugins.volume import names

REASON = sleepable.REASON


class SleepingBackends(sleepable.Sleepable):
    """The part of the pool of storage back ends that knows how they sleep."""

    def machine(self, name):
        return _machine(name)

    def close_for_sleep(self, cloud, resources):
        hosts = cloud.as_service().storage_hosts
        return all(hosts.disable(each, REASON) for each in _service_hosts(resources))

    def open_after_sleep(self, cloud, resources):
        for each in _service_hosts(resources):
            cloud.as_service().storage_hosts.enable(each, REASON)

    def in_use(self, cloud, resources):
        services, machine = cloud.as_service(), _machine(resources[0].name)
        hosts = services.storage_hosts
        reason = _why_served(hosts, machine, _service_hosts(resources))
        if reason is not None:
            return reason
        strange = {each.name for each in services.volumes.backends()
                   if _machine(each.name) == machine} - {each.name for each in resources}
        if strange:
            return f'{min(strange)} is on its machine, too, and is not enrolled'
        for noun, found in (('volumes', hosts.volumes_on(machine)),
                            ('snapshots', hosts.snapshots_on(machine))):
            if found:
                return f'{noun} are on it ({len(found)})'
        coming = self._coming(services, resources)
        return f'volumes may come to it ({len(coming)})' if coming else None

    def works(self, cloud, resources):
        up = {each.host for each in _served(cloud.as_service().storage_hosts) if each.up}
        return {each.id for each in resources if _service_host(each.name) in up}

    def ready(self, cloud, resources):
        # Cinder's scheduler knows a back end as soon as it has reported once.
        known = {each.name for each in cloud.as_service().volumes.backends()}
        closed = {each.host for each in _served(cloud.as_service().storage_hosts)
                  if not each.enabled or each.frozen}
        return {each.id for each in resources
                if each.name in known or _service_host(each.name) in closed}

    @staticmethod
    def zones(services):
        """Return a callable(name of a back end) that returns its availability zone, or None."""
        known = {each.host: each.zone for each in _served(services.storage_hosts)}
        return lambda name: known.get(_service_host(name))

    @staticmethod
    def asleep(cloud, backends, resources):
        """Return those Resources that Climate has closed for their sleep.

        :param backends: all Backends that Cinder lists.
        """
        listed = {each.name for each in backends}
        missing = [each for each in resources if each.name not in listed]
        if not missing:
            return []
        closed = {each.host for each in _served(cloud.as_service().storage_hosts)
                  if not each.enabled and each.reason == REASON}
        return [each for each in missing if _service_host(each.name) in closed]

    @staticmethod
    def _coming(services, resources):
        """Return the Volumes whose back end is not known yet, and may be one of these."""
        coming = services.storage_hosts.unplaced_volumes()
        if not coming:
            return []
        leads = {each.name: each.extra_specs.get(names.BACKEND_SPEC)
                 for each in services.volumes.types()}
        mine = {None, *(each.facts[names.BACKEND_SPEC] for each in resources)}
        # The type that a volume moves to is not known.
        return [each for each in coming
                if each.status != 'creating' or leads.get(each.type_name) in mine]


def _why_served(hosts, machine, mine):
    """Return why the services on a machine must go on, in words; None if they need not.

    :param mine: the service hosts of the back ends that may sleep.
    """
    there = {(each.binary, each.host): each for each in hosts.services()
             if _machine(each.host) == machine}
    for (binary, host), each in sorted(there.items()):
        if each.up and (binary != hosts.BINARY or host not in mine):
            return f'the service {binary} of {host} is on its machine, too'
    for host in mine:
        found = there.get((hosts.BINARY, host))
        if found is None:
            return f'Cinder does not know the service {host}'
        # One that Climate has closed may be down because the machine shuts down.
        if not found.up and found.enabled:
            return f'its service {host} is down'
    return None


def _served(hosts):
    return [each for each in hosts.services() if each.binary == hosts.BINARY]


def _service_hosts(resources):
    return sorted({_service_host(each.name) for each in resources})


def _service_host(name):
    return name.partition('#')[0]


def _machine(name):
    return _service_host(name).partition('@')[0]
