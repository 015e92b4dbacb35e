# SPDX-License-Identifier: Apache-2.0
"""Placement: child providers of hosts, their traits and inventories."""
import collections
import contextlib
import uuid

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import base
from climate.cloud import concurrency
from climate.cloud import faults

_VERSION = '1.29'
_EMPTY_ATTEMPTS = 5
# Many reservations may start on one host at the same moment.
_WRITE_ATTEMPTS = 20
_REMOVE_ATTEMPTS = 3
_SLOTS = {'reserved': 0, 'min_unit': 1, 'max_unit': 1, 'step_size': 1, 'allocation_ratio': 1.0}
_CHANGED_MEANWHILE = 'placement.concurrent_update'


class RealPlacement(base.Placement):
    """Placement under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._pool = connection.pool
        # {name of a child provider: its uuid}.
        self._children = {}
        self._adapter = connection.rest(default_microversion=_VERSION)

    def ensure_child(self, hypervisor_name, child_name):
        child = self._find(child_name)
        if child is not None:
            return child
        body = {'name': child_name, 'uuid': str(uuid.uuid4()),
                'parent_provider_uuid': self._provider(hypervisor_name)}
        try:
            self._adapter.post('/resource_providers', json=body)
        except keystone_errors.Conflict:
            # Another manager has created it at the same time.
            child = self._find(child_name)
            if child is None:
                raise
            return child
        return body['uuid']

    def empty_child(self, child_name):
        child = self._find(child_name)
        if child is None:
            return
        for attempt in range(1, _EMPTY_ATTEMPTS + 1):
            try:
                with faults.ignored_if_absent():
                    self._adapter.delete(f'/resource_providers/{child}/inventories')
                return
            except keystone_errors.Conflict as error:
                self._refuse_conflict(error, is_last=attempt == _EMPTY_ATTEMPTS)

    def ensure_class(self, resource_class):
        self._adapter.put(f'/resource_classes/{resource_class}')

    def set_slots(self, child_name, resource_class, count):
        if not count:
            child = self._find(child_name)
            if child is not None:
                self._remove_inventory(child, resource_class)
            return
        child = self._child(child_name)
        if child is None:
            raise errors.ResourceNotFound(pool='host', resource=child_name)
        try:
            try:
                self._add_inventory(child, resource_class, {**_SLOTS, 'total': count})
            except keystone_errors.Conflict:
                self._set_inventory(child, resource_class, count)
        except keystone_errors.NotFound:
            # Somebody has deleted the provider; there may be another one of its name.
            self._children.pop(child_name, None)
            raise

    def delete_class(self, resource_class):
        try:
            providers = self._providers(resources=f'{resource_class}:1')
        except keystone_errors.BadRequest:
            # Placement answers this if it knows no such class.
            if self._has_class(resource_class):
                raise
            return
        for provider in providers:
            self._remove_inventory(provider['uuid'], resource_class)
        try:
            with faults.ignored_if_absent():
                self._adapter.delete(f'/resource_classes/{resource_class}')
        except keystone_errors.Conflict as error:
            # The list of providers omits those whose units are all in use.
            raise errors.StillBusy(service=self.service, reason=str(error)) from error

    def _has_class(self, resource_class):
        with faults.ignored_if_absent():
            self._adapter.get(f'/resource_classes/{resource_class}')
            return True
        return False

    def _child(self, name):
        """Return the uuid of a child provider, which Climate never deletes; or None."""
        if name not in self._children:
            child = self._find(name)
            if child is None:
                return None
            self._children[name] = child
        return self._children[name]

    def _add_inventory(self, provider, resource_class, inventory):
        """Add a class to a provider. Nothing is overwritten, so Placement compares no generation.

        :raises Conflict: the provider has the class, or was changed just now.
        """
        self._adapter.post(f'/resource_providers/{provider}/inventories', json={
            **inventory, 'resource_class': resource_class, 'resource_provider_generation': 0})

    def _remove_inventory(self, provider, resource_class):
        """Remove a class from a provider, if it has it.

        :raises StillBusy: some of its units are in use.
        """
        address = f'/resource_providers/{provider}/inventories/{resource_class}'
        for _ in range(_REMOVE_ATTEMPTS):
            # A conflict does not show whether units are in use or another client was faster.
            with contextlib.suppress(keystone_errors.Conflict):
                with faults.ignored_if_absent():
                    self._adapter.delete(address)
                return
        self._set_inventory(provider, resource_class, 0)

    def _set_inventory(self, provider, resource_class, count):
        """Set the units of a class at the provider with that uuid; retry if others write too."""
        address = f'/resource_providers/{provider}/inventories'
        target = {**_SLOTS, 'total': count} if count else None
        for attempt in range(1, _WRITE_ATTEMPTS + 1):
            body = self._adapter.get(address).json()
            present = body['inventories'].pop(resource_class, None)
            if present == target:
                return
            try:
                if present is None:
                    self._add_inventory(provider, resource_class, target)
                else:
                    body['inventories'] |= {resource_class: target} if count else {}
                    self._adapter.put(address, json=body)
                return
            except keystone_errors.Conflict as error:
                self._refuse_conflict(error, is_last=attempt == _WRITE_ATTEMPTS)

    def _refuse_conflict(self, error, is_last):
        """Raise the error of a write, unless another client was faster and it can be repeated.

        :raises StillBusy: units that the write removes are in use.
        """
        if _code(error) != _CHANGED_MEANWHILE:
            raise errors.StillBusy(service=self.service, reason=str(error)) from error
        if is_last:
            raise error

    def classes(self):
        answer = self._adapter.get('/resource_classes')
        return frozenset(listed['name'] for listed in answer.json()['resource_classes'])

    def children(self, prefix):
        return self._read_all(
            {provider['name']: provider['uuid'] for provider in self._providers()
             if provider['name'].startswith(prefix)},
            lambda provider: self._read(provider, 'inventories'))

    def traits(self, hypervisor_name):
        return frozenset(self._read(self._provider(hypervisor_name), 'traits'))

    def inventory(self, hypervisor_name):
        return self._read(self._provider(hypervisor_name), 'inventories')

    def survey(self, hypervisor_names):
        return self._read_hypervisors(hypervisor_names, lambda provider: (
            frozenset(self._read(provider, 'traits')), self._read(provider, 'inventories')))

    def held(self, hypervisor_names):
        return self._read_hypervisors(hypervisor_names, lambda provider: {
            consumer: allocation['resources']
            for consumer, allocation in self._read(provider, 'allocations').items()})

    def candidates(self, shapes):
        shapes = list(shapes)
        if not shapes:
            return {}
        names = {provider['uuid']: provider['name'] for provider in self._providers()
                 if provider['uuid'] == provider['root_provider_uuid']}
        hosts_by_shape = concurrency.call_all(self._pool, self._candidates, shapes)
        return {shape: {names[root]: free for root, free in hosts.items() if root in names}
                for shape, hosts in zip(shapes, hosts_by_shape, strict=True)}

    def _candidates(self, shape):
        """Return {uuid of a root provider that fits the shape: {resource class: free units}}."""
        required = [f'!{base.Computes.BARRED}', *sorted(shape.traits)]
        answer = self._adapter.get('/allocation_candidates', params={
            'resources': ','.join(f'{name}:{units}' for name, units in shape.resources),
            'required': ','.join(required)}).json()
        providers = answer['provider_summaries']
        usable = {providers[provider]['root_provider_uuid']
                  for request in answer['allocation_requests']
                  for provider in request['allocations']}
        free = {root: collections.Counter() for root in usable}
        for provider in providers.values():
            root = provider['root_provider_uuid']
            if root in free:
                free[root].update({name: resource['capacity'] - resource['used']
                                   for name, resource in provider['resources'].items()})
        return {root: dict(units) for root, units in free.items()}

    def _read_hypervisors(self, names, read):
        """Return {name: the result of ``read(uuid)``} of hypervisors that have a provider."""
        known = {provider['name']: provider['uuid'] for provider in self._providers()}
        return self._read_all({name: known[name] for name in names if name in known}, read)

    def _read_all(self, providers, read):
        """Return {name: the result of ``read(uuid)``} of providers, {name: uuid}.

        Providers that have just been deleted are left out.
        """
        def read_one(provider):
            with faults.ignored_if_absent():
                return read(provider)
            return None
        results = concurrency.call_all(self._pool, read_one, providers.values())
        return {name: result for name, result in zip(providers, results, strict=True)
                if result is not None}

    def _read(self, provider, subject):
        return self._adapter.get(f'/resource_providers/{provider}/{subject}').json()[subject]

    def _provider(self, hypervisor_name):
        provider = self._find(hypervisor_name)
        if provider is None:
            raise errors.ResourceNotFound(pool='host', resource=hypervisor_name)
        return provider

    def _providers(self, **filters):
        answer = self._adapter.get('/resource_providers', params=filters)
        return answer.json()['resource_providers']

    def _find(self, name):
        """Return the uuid of the provider of exactly that name, or None."""
        return next((provider['uuid'] for provider in self._providers(name=name)), None)


def _code(error):
    try:
        return error.response.json()['errors'][0].get('code')
    except (AttributeError, LookupError, ValueError):
        return None


class RealPlacementAdapter(base.PlacementAdapter):
    """Placement, by its REST API."""

    interfaces = {'placement': RealPlacement}
