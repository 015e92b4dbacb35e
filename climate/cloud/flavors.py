# SPDX-License-Identifier: Apache-2.0
"""Nova's flavors and server groups."""
import contextlib
from urllib import parse

from novaclient import exceptions as nova_errors

from climate import errors
from climate.cloud import base
from climate.cloud import models
from climate.cloud import nova

_PAGE = 1000


class Flavors(base.Flavors):
    """Flavors and server groups under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._client = nova.connected(link, nova.VERSION)

    def flavor(self, flavor_id, project_id):
        found = self._find(flavor_id)
        if found is None:
            return None
        if not found['os-flavor-access:is_public']:
            allowed = self._client.flavor_access.list(flavor=_quoted(flavor_id))
            if project_id not in {each.tenant_id for each in allowed}:
                return None
        return _record(found)

    def ensure(self, flavor_id, name, sizes, extra_specs, exactly=False):
        found = self._find(flavor_id)
        if exactly and found is not None and _differs(_record(found), sizes, extra_specs):
            self.delete(flavor_id)
            found = None
        if found is None:
            # Another manager may create it at the same time.
            with contextlib.suppress(nova_errors.Conflict):
                self._client.flavors.create(name, flavorid=flavor_id, is_public=False, **sizes)
            found = self._find(flavor_id)
        if found is None:
            raise errors.StillBusy(service=self.service, reason=(
                f'flavor {flavor_id} was deleted just now.'))
        missing = {key: text for key, text in extra_specs.items()
                   if found['extra_specs'].get(key) != text}
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
        found = self._client.servers.list(
            search_opts={'all_tenants': 1, 'flavor': flavor_id}, limit=-1,
            sort_keys=['created_at'], sort_dirs=['asc'])
        return [nova.server(each.to_dict()) for each in found]

    def create_group(self, name, policy):
        try:
            return self._client.server_groups.create(name, policy).id
        except nova_errors.Forbidden as error:
            raise errors.LimitReached(limit='nova.server_groups', reason=(
                f'Nova creates no server group for the affinity: {error}. Delete server groups '
                'that are not needed any more, or ask for a larger quota.')) from error

    def ensure_group(self, name, policy):
        known = [each['id'] for each in self._groups(name) if each.get('policy') == policy]
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
        for each in self._groups(name, all_projects=True):
            if each['id'] != but:
                self.delete_group(each['id'])

    def every(self):
        found = []
        # None lists public and private flavors.
        page = self._client.flavors.list(is_public=None)
        while page:
            found += [_record(each.to_dict()) for each in page]
            page = self._client.flavors.list(is_public=None, marker=page[-1].id)
        return found

    def groups(self):
        return [models.ServerGroup(
                    id=each['id'], name=each['name'], policy=each.get('policy') or '',
                    members=frozenset(each.get('members') or ()))
                for each in self._every_group(all_projects=True)]

    def _find(self, flavor_id):
        """Return the flavor as a dict, or None."""
        try:
            return self._client.flavors.get(_quoted(flavor_id)).to_dict()
        except nova_errors.NotFound:
            return None

    def _groups(self, name, all_projects=False):
        return [each for each in self._every_group(all_projects) if each['name'] == name]

    def _every_group(self, all_projects):
        """Return the server groups as dicts."""
        found, offset = [], 0
        while True:
            page = self._client.server_groups.list(
                all_projects=all_projects, limit=_PAGE, offset=offset)
            found += [each.to_dict() for each in page]
            offset += len(page)
            # A cloud may limit its pages to less than was asked for.
            if not page:
                return found


def _differs(flavor, sizes, extra_specs):
    return flavor.extra_specs != extra_specs or any(
        getattr(flavor, name) != size for name, size in sizes.items())


def _record(found):
    return models.Flavor(
        id=found['id'], name=found['name'], vcpus=found['vcpus'], ram=found['ram'],
        disk=found['disk'], ephemeral=found['OS-FLV-EXT-DATA:ephemeral'],
        swap=int(found['swap'] or 0), extra_specs=dict(found['extra_specs']))


def _quoted(flavor_id):
    return parse.quote(flavor_id, safe='')
