# SPDX-License-Identifier: Apache-2.0
"""Nova's flavors and server groups."""
import contextlib
from urllib import parse

from novaclient import exceptions as nova_errors

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import nova_client

_PAGE = 1000


class NovaFlavors(nova_client.NovaInterface, base.Flavors):
    """Flavors and server groups under one identity."""

    def flavor(self, flavor_id, project_id):
        shown = self._find(flavor_id)
        if shown is None:
            return None
        if not shown['os-flavor-access:is_public']:
            allowed = self._client.flavor_access.list(flavor=_quoted(flavor_id))
            if project_id not in {access.tenant_id for access in allowed}:
                return None
        return _flavor(shown)

    def ensure(self, flavor_id, name, sizes, extra_specs, exactly=False):
        shown = self._find(flavor_id)
        if exactly and shown is not None and _differs(_flavor(shown), sizes, extra_specs):
            self.delete(flavor_id)
            shown = None
        if shown is None:
            # Another manager may create it at the same time.
            with contextlib.suppress(nova_errors.Conflict):
                self._client.flavors.create(name, flavorid=flavor_id, is_public=False, **sizes)
            shown = self._find(flavor_id)
        if shown is None:
            raise errors.StillBusy(service=self.service, reason=(
                f'flavor {flavor_id} was deleted just now.'))
        missing = {key: text for key, text in extra_specs.items()
                   if shown['extra_specs'].get(key) != text}
        if missing:
            self._client.flavors.get(_quoted(flavor_id)).set_keys(missing)

    def allow(self, flavor_id, project_id):
        with contextlib.suppress(nova_errors.Conflict):
            self._client.flavor_access.add_tenant_access(_quoted(flavor_id), project_id)

    def forbid(self, flavor_id, project_id):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.flavor_access.remove_tenant_access(_quoted(flavor_id), project_id)

    def delete(self, flavor_id):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.flavors.delete(_quoted(flavor_id))

    def servers(self, flavor_id):
        return nova_client.sorted_servers(self._client, flavor=flavor_id)

    def create_group(self, name, policy):
        try:
            return self._client.server_groups.create(name, policy).id
        except nova_errors.Forbidden as error:
            raise errors.LimitReached(limit='nova.server_groups', reason=(
                f'Nova creates no server group for the affinity: {error}. Delete server groups '
                'that are not needed any more, or ask for a larger quota.')) from error

    def ensure_group(self, name, policy):
        known = [group['id'] for group in self._groups(name) if group.get('policy') == policy]
        return known[0] if known else self.create_group(name, policy)

    def has_group(self, group_id):
        try:
            self._client.server_groups.get(group_id)
        except nova_errors.NotFound:
            return False
        return True

    def delete_group(self, group_id):
        with contextlib.suppress(nova_errors.NotFound):
            self._client.server_groups.delete(group_id)

    def delete_groups(self, name, but=None):
        for group in self._groups(name, all_projects=True):
            if group['id'] != but:
                self.delete_group(group['id'])

    def every(self):
        # None lists public and private flavors.
        return self._list(is_public=None)

    def usable(self):
        # Nova adds the private flavors to which the project of the token has access.
        return self._list(is_public=True)

    def _list(self, is_public):
        flavors = []
        page = self._client.flavors.list(is_public=is_public)
        while page:
            flavors += [_flavor(resource.to_dict()) for resource in page]
            page = self._client.flavors.list(is_public=is_public, marker=page[-1].id)
        return flavors

    def groups(self):
        return [models.ServerGroup(
                    id=group['id'], name=group['name'], policy=group.get('policy') or '',
                    members=frozenset(group.get('members') or ()))
                for group in self._every_group(all_projects=True)]

    def _find(self, flavor_id):
        """Return the flavor as a dict, or None."""
        try:
            return self._client.flavors.get(_quoted(flavor_id)).to_dict()
        except nova_errors.NotFound:
            return None

    def _groups(self, name, all_projects=False):
        return [group for group in self._every_group(all_projects) if group['name'] == name]

    def _every_group(self, all_projects):
        """Return the server groups as dicts."""
        groups = []
        while True:
            page = self._client.server_groups.list(
                all_projects=all_projects, limit=_PAGE, offset=len(groups))
            groups += [resource.to_dict() for resource in page]
            # A cloud may return smaller pages than requested.
            if not page:
                return groups


def _differs(flavor, sizes, extra_specs):
    return flavor.extra_specs != extra_specs or any(
        getattr(flavor, name) != size for name, size in sizes.items())


def _flavor(shown):
    return models.Flavor(
        id=shown['id'], name=shown['name'], vcpus=shown['vcpus'], ram=shown['ram'],
        disk=shown['disk'], ephemeral=shown['OS-FLV-EXT-DATA:ephemeral'],
        swap=int(shown['swap'] or 0), extra_specs=dict(shown['extra_specs']))


def _quoted(flavor_id):
    return parse.quote(flavor_id, safe='')
