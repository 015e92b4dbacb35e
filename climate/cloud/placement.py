# SPDX-License-Identifier: Apache-2.0
"""Placement: child providers of hosts, their traits and inventories."""
import collections
import contextlib
import uuid

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import parallel

_VERSION = '1.29'
_EMPTY_ATTEMPTS = 5
# Many reservations may start on one host at the same moment.
_WRITE_ATTEMPTS = 20
_REMOVE_ATTEMPTS = 3
_SLOTS = {'reserved': 0, 'min_unit': 1, 'max_unit': 1, 'step_size': 1, 'allocation_ratio': 1.0}
_CHANGED_MEANWHILE = 'placement.concurrent_update'


class Placement(base.Placement):
    """Placement under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._pool = link.pool
        # {name of a child provider: its uuid}.
        self._children = {}
        self._adapter = link.rest(default_microversion=_VERSION)

    def ensure_child(self, hypervisor_name, child_name):
        found = self._find(child_name)
        if found is not None:
            return found
        body = {'name': child_name, 'uuid': str(uuid.uuid4()),
                'parent_provider_uuid': self._provider(hypervisor_name)}
        try:
            self._adapter.post('/resource_providers', json=body)
        except keystone_errors.Conflict:
            # Another manager has created it at the same time.
            found = self._find(child_name)
            if found is None:
                raise
            return found
        return body['uuid']

    def empty_child(self, child_name):
        found = self._find(child_name)
        for attempt in range(1, _EMPTY_ATTEMPTS + 1):
            if found is None:
                return
            try:
                with faults.ignored_if_absent():
                    self._adapter.delete(f'/resource_providers/{found}/inventories')
                return
            except keystone_errors.Conflict as error:
                self._refuse_conflict(error, is_last=attempt == _EMPTY_ATTEMPTS)

    def ensure_class(self, resource_class):
        self._adapter.put(f'/resource_classes/{resource_class}')

    def set_slots(self, child_name, resource_class, count):
        if not count:
            found = self._find(child_name)
            if found is not None:
                self._remove_inventory(found, resource_class)
            return
        found = self._child(child_name)
        if found is None:
            raise errors.ResourceNotFound(pool='host', resource=child_name)
        try:
            self._add_or_set(found, resource_class, count)
        except keystone_errors.NotFound:
            # Somebody has deleted the provider; there may be another one of its name.
            self._children.pop(child_name, None)
            raise

    def delete_class(self, resource_class):
        try:
            answer = self._adapter.get('/resource_providers',
                                       params={'resources': f'{resource_class}:1'})
        except keystone_errors.BadRequest:
            # Placement answers this if it knows no such class.
            if self._has_class(resource_class):
                raise
            return
        for provider in answer.json()['resource_providers']:
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

    def _add_or_set(self, provider, resource_class, count):
        try:
            self._add_inventory(provider, resource_class, {**_SLOTS, 'total': count})
        except keystone_errors.Conflict:
            self._set_inventory(provider, resource_class, count)

    def _child(self, name):
        """Return the uuid of a child provider, which Climate never deletes; or None."""
        if name not in self._children:
            found = self._find(name)
            if found is None:
                return None
            self._children[name] = found
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
            # A conflict does not tell whether units are in use or another client was faster.
            with contextlib.suppress(keystone_errors.Conflict):
                with faults.ignored_if_absent():
                    self._adapter.delete(address)
                return
        self._set_inventory(provider, resource_class, 0)

    def _set_inventory(self, provider, resource_class, count):
        """Set the units of a class at the provider with that uuid; retry if others write too."""
        address = f'/resource_providers/{provider}/inventories'
        wanted = {**_SLOTS, 'total': count} if count else None
        for attempt in range(1, _WRITE_ATTEMPTS + 1):
            body = self._adapter.get(address).json()
            known = body['inventories'].pop(resource_class, None)
            if known == wanted:
                return
            try:
                if known is None:
                    self._add_inventory(provider, resource_class, wanted)
                else:
                    body['inventories'] |= {resource_class: wanted} if count else {}
                    self._adapter.put(address, json=body)
                return
            except keystone_errors.Conflict as error:
                self._refuse_conflict(error, is_last=attempt == _WRITE_ATTEMPTS)

    def _refuse_conflict(self, error, is_last):
        """Raise the error of a write, unless another client was faster and there is another try.

        :raises StillBusy: units that the write takes away are in use.
        """
        if _code(error) != _CHANGED_MEANWHILE:
            raise errors.StillBusy(service=self.service, reason=str(error)) from error
        if is_last:
            raise error

    def classes(self):
        answer = self._adapter.get('/resource_classes')
        return frozenset(each['name'] for each in answer.json()['resource_classes'])

    def children(self, prefix):
        answer = self._adapter.get('/resource_providers')
        found = [(each['name'], each['uuid']) for each in answer.json()['resource_providers']
                 if each['name'].startswith(prefix)]
        inventories = parallel.each(self._pool, self._inventory_of, [key for _, key in found])
        return {name: inventory for (name, _), inventory in zip(found, inventories, strict=True)
                if inventory is not None}

    def _inventory_of(self, provider):
        """Return the inventory of a provider, or None if it has just been deleted."""
        with faults.ignored_if_absent():
            return self._read(provider, 'inventories')
        return None

    def traits(self, hypervisor_name):
        return frozenset(self._of_provider(hypervisor_name, 'traits'))

    def inventory(self, hypervisor_name):
        return self._of_provider(hypervisor_name, 'inventories')

    def survey(self, hypervisor_names):
        return self._of_each(hypervisor_names, lambda provider: (
            frozenset(self._read(provider, 'traits')), self._read(provider, 'inventories')))

    def held(self, hypervisor_names):
        return self._of_each(hypervisor_names, lambda provider: {
            consumer: each['resources']
            for consumer, each in self._read(provider, 'allocations').items()})

    def candidates(self, shapes):
        shapes = list(shapes)
        if not shapes:
            return {}
        answer = self._adapter.get('/resource_providers')
        names = {each['uuid']: each['name'] for each in answer.json()['resource_providers']
                 if each['uuid'] == each['root_provider_uuid']}
        found = parallel.each(self._pool, self._candidates, shapes)
        return {shape: {names[root]: free for root, free in hosts.items() if root in names}
                for shape, hosts in zip(shapes, found, strict=True)}

    def _candidates(self, shape):
        """Return {uuid of a root provider that fits the shape: {resource class: free units}}."""
        required = [f'!{base.Computes.BARRED}', *sorted(shape.traits)]
        answer = self._adapter.get('/allocation_candidates', params={
            'resources': ','.join(f'{name}:{units}' for name, units in shape.resources),
            'required': ','.join(required)}).json()
        providers = answer['provider_summaries']
        usable = {providers[each]['root_provider_uuid']
                  for request in answer['allocation_requests'] for each in request['allocations']}
        found = {root: collections.Counter() for root in usable}
        for provider in providers.values():
            free = found.get(provider['root_provider_uuid'])
            if free is not None:
                free.update({name: has['capacity'] - has['used']
                             for name, has in provider['resources'].items()})
        return {root: dict(free) for root, free in found.items()}

    def _of_each(self, hypervisor_names, read):
        """Return {name: the result of ``read(uuid)``} of hypervisors that have a provider."""
        answer = self._adapter.get('/resource_providers')
        known = {each['name']: each['uuid'] for each in answer.json()['resource_providers']}
        names = [name for name in hypervisor_names if name in known]

        def read_one(name):
            with faults.ignored_if_absent():
                return read(known[name])
            # It has just been deleted.
            return None
        results = parallel.each(self._pool, read_one, names)
        return {name: result for name, result in zip(names, results, strict=True)
                if result is not None}

    def _of_provider(self, name, what):
        return self._read(self._provider(name), what)

    def _read(self, provider, what):
        return self._adapter.get(f'/resource_providers/{provider}/{what}').json()[what]

    def _provider(self, hypervisor_name):
        found = self._find(hypervisor_name)
        if found is None:
            raise errors.ResourceNotFound(pool='host', resource=hypervisor_name)
        return found

    def _find(self, name):
        """Return the uuid of the provider of exactly that name, or None."""
        answer = self._adapter.get('/resource_providers', params={'name': name})
        return next((each['uuid'] for each in answer.json()['resource_providers']), None)


def _code(error):
    try:
        return error.response.json()['errors'][0].get('code')
    except (AttributeError, LookupError, ValueError):
        return None
