# SPDX-License-Identifier: Apache-2.0
"""The pool of storage back ends that an administrator enrolled."""
import collections
import contextlib

from climate import errors
from climate.plugins import base
from climate.plugins.volume import backend_sleep
from climate.plugins.volume import names

#: The key of the need. Allocations store the key, so it must never change.
NEED = 'room'
#: The name of the capacity: the gigabytes that volumes may use on a back end.
GIGABYTES = 'gb'
GROUP = 'virtual:volume'


class BackendPool(base.Pool, backend_sleep.SleepingBackends):
    """Storage back ends that only leases use, under Cinder's name ``host@backend#pool``."""

    name = 'backend'
    services = ('cinder',)
    enrol_schema = base.name_schema('Its name in Cinder: host@backend#pool.')
    capacity_names = {GIGABYTES: GIGABYTES}
    fact_names = (names.BACKEND_SPEC, names.ZONE)
    identifying_names = frozenset({'name', names.BACKEND_SPEC})

    def discover(self, cloud, name):
        services = cloud.as_service()
        return self._found(services.volumes.backends(), name, self.zones(services))

    def survey(self, cloud, resources):
        resources = tuple(resources)
        services = cloud.as_service()
        backends, zones = services.volumes.backends(), self.zones(services)
        # Cinder does not list back ends that sleep. Return their stored facts.
        descriptions = {resource.name: base.Found(
            resource.name, dict(resource.capacity), dict(resource.facts))
            for resource in self.asleep(cloud, backends, resources)}
        for resource in resources:
            with contextlib.suppress(errors.BadField, errors.ResourceNotFound,
                                     errors.ResourceAmbiguous):
                descriptions[resource.name] = self._found(backends, resource.name, zones)
        return descriptions

    def unfit(self, cloud, resources):
        resources = tuple(resources)
        reasons, types = super().unfit(cloud, resources), cloud.as_service().volumes.types()
        for resource in resources:
            why = self._why_shared(types, resource)
            if why is not None:
                reasons.setdefault(resource.name, why)
        return reasons

    def failing(self, cloud, resources):
        # Cinder lists only back ends whose service is up and enabled.
        listed = {backend.name for backend in cloud.as_service().volumes.backends()}
        return {resource.id: (
            'Cinder does not list it: its service is down or disabled, or it is gone')
            for resource in resources if resource.name not in listed}

    def admit(self, cloud, found):
        why = self._why_shared(cloud.as_service().volumes.types(), found)
        if why is not None:
            raise errors.ResourceInUse(pool=self.name, resource=found.name, reason=why)

    def _why_shared(self, types, backend):
        """Return why volumes without a lease can use the capacity of a back end, or None.

        :param types: all VolumeTypes.
        :param backend: its Found or its Resource.
        """
        if self.conf[GROUP].shared_backends:
            return None
        # Volumes of a type without this extra spec can be created on any back end.
        public = sorted(kind.name for kind in types
                        if kind.is_public and kind.extra_specs.get(names.BACKEND_SPEC) in (
                            None, backend.facts[names.BACKEND_SPEC]))
        if not public:
            return None
        return (f'volumes of these public types could use its capacity: {", ".join(public)}. Give '
                f'each the extra spec {names.BACKEND_SPEC} of another back end first.')

    def _found(self, backends, name, zones):
        """Return the Found of the back end of that name.

        :param zones: callable(name of a back end) → its zone or None.
        :raises BadField: the capacity of the back end is not known.
        """
        backend = next((backend for backend in backends if backend.name == name), None)
        if backend is None:
            raise errors.ResourceNotFound(pool=self.name, resource=name)
        if backend.usable_gb is None:
            raise errors.BadField(field='name', reason=(
                f'Cinder does not know the total capacity of {name}, so that it cannot be leased.'))
        counts = collections.Counter(other.backend_name for other in backends)
        if not backend.backend_name or counts[backend.backend_name] > 1:
            # Volume types choose a back end by this name.
            raise errors.ResourceAmbiguous(
                pool=self.name, resource=f'{name} ({names.BACKEND_SPEC} "{backend.backend_name}")')
        zone = zones(name)
        return base.Found(name=name, capacity={GIGABYTES: backend.usable_gb}, facts={
            names.BACKEND_SPEC: backend.backend_name,
            **({} if zone is None else {names.ZONE: zone})})
