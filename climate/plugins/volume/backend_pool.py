# SPDX-License-Identifier: Apache-2.0
"""The pool of storage back ends, which an administrator enrolled."""
import collections

from climate import errors
from climate.plugins import base
from climate.plugins.volume import names
from climate.plugins.volume import sleeping

#: The key of the need of reservations that take room.
NEED = 'room'
#: The capacity: the gigabytes that volumes may have on a back end.
ROOM = 'gb'
BACKEND_SPEC = names.BACKEND_SPEC
GROUP = 'virtual:volume'


class BackendPool(base.Pool, sleeping.SleepingBackends):
    """Storage back ends that only leases use, under Cinder's name ``host@backend#pool``."""

    name = 'backend'
    services = ('cinder',)
    enrol_schema = {
        'type': 'object',
        'required': ['name'],
        'properties': {'name': {'description': 'Its name in Cinder: host@backend#pool.',
                                'type': 'string', 'minLength': 1, 'maxLength': 255}},
        'additionalProperties': False,
    }
    capacity_names = {ROOM: ROOM}
    fact_names = (BACKEND_SPEC, names.ZONE)
    identifying_names = frozenset({'name', BACKEND_SPEC})

    def discover(self, cloud, name):
        services = cloud.as_service()
        return self._found(services.volumes.backends(), name, self.zones(services))

    def survey(self, cloud, resources):
        resources = tuple(resources)
        services = cloud.as_service()
        backends, zones = services.volumes.backends(), self.zones(services)
        # Cinder says nothing of what sleeps, so that stays as it was.
        found = {each.name: base.Found(each.name, dict(each.capacity), dict(each.facts))
                 for each in self.asleep(cloud, backends, resources)}
        for resource in resources:
            try:
                found[resource.name] = self._found(backends, resource.name, zones)
            except (errors.BadField, errors.ResourceNotFound, errors.ResourceAmbiguous):
                continue
        return found

    def unfit(self, cloud, resources):
        resources = tuple(resources)
        found, types = super().unfit(cloud, resources), cloud.as_service().volumes.types()
        for resource in resources:
            why = self._why_shared(types, resource)
            if why is not None:
                found.setdefault(resource.name, why)
        return found

    def failing(self, cloud, resources):
        # Cinder lists the back ends whose service is up and enabled.
        known = {each.name for each in cloud.as_service().volumes.backends()}
        return {each.id: 'Cinder does not list it: its service is down or disabled, or it is gone'
                for each in resources if each.name not in known}

    def admit(self, cloud, found):
        why = self._why_shared(cloud.as_service().volumes.types(), found)
        if why is not None:
            raise errors.ResourceInUse(pool=self.name, resource=found.name, reason=why)

    def _why_shared(self, types, found):
        """Return why others can take the room of a back end, or None.

        :param types: all VolumeTypes.
        :param found: its Found or its Resource.
        """
        if self.conf[GROUP].shared_backends:
            return None
        # A type without that spec takes any back end, and the name of one chooses it.
        public = sorted(each.name for each in types
                        if each.is_public and each.extra_specs.get(BACKEND_SPEC) in (
                            None, found.facts[BACKEND_SPEC]))
        if not public:
            return None
        return (f'volumes of these public types could take its room: {", ".join(public)}. Give '
                f'each the extra spec {BACKEND_SPEC} of another back end first.')

    def _found(self, backends, name, zones):
        """Return the Found of the back end of that name.

        :param zones: callable(name of a back end): its zone or None.
        :raises BadField: its room is not known.
        """
        found = next((each for each in backends if each.name == name), None)
        if found is None:
            raise errors.ResourceNotFound(pool=self.name, resource=name)
        if found.usable_gb is None:
            raise errors.BadField(field='name', reason=(
                f'Cinder does not know the total room of {name}, so that none can be promised.'))
        alike = collections.Counter(each.backend_name for each in backends)
        if not found.backend_name or alike[found.backend_name] > 1:
            # Volume types choose by this name, and could not tell them apart.
            raise errors.ResourceAmbiguous(
                pool=self.name, resource=f'{name} ({BACKEND_SPEC} "{found.backend_name}")')
        zone = zones(name)
        return base.Found(name=name, capacity={ROOM: found.usable_gb}, facts={
            BACKEND_SPEC: found.backend_name, **({} if zone is None else {names.ZONE: zone})})
