# SPDX-License-Identifier: Apache-2.0
"""Magnum: clusters, their node groups and their templates."""
import contextlib
import time
from urllib import parse

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models

# Node groups came with 1.9, groups without nodes with 1.10.
_VERSION = '1.10'
_PAGE = 1000
# Magnum's conductor writes a new cluster after the answer; until then it is shown half or not.
_SHOWN_SECONDS = 15
_LOOK_SECONDS = 0.3


class Clusters(base.Clusters):
    """Magnum under one identity."""

    def __init__(self, link):
        super().__init__(link.trust_id, link.login_group)
        self._adapter = link.rest(default_microversion=_VERSION)

    def template(self, template_id, project_id):
        try:
            found = self._adapter.get(f'/clustertemplates/{_quoted(template_id)}').json()
        except keystone_errors.NotFound as error:
            if faults.is_login(error):
                raise
            return None
        except keystone_errors.Conflict:
            raise errors.BadField(field='cluster_template_id', reason=(
                f'several cluster templates are called "{template_id}": give the id of one.'
            )) from None
        # Magnum takes names, too, and other spellings of an id.
        if not found.get('public') and found.get('project_id') != project_id:
            return None
        return models.ClusterTemplate(
            id=found['uuid'], name=found.get('name') or '',
            flavor_id=found.get('flavor_id') or None,
            master_flavor_id=found.get('master_flavor_id') or None)

    def cluster(self, cluster_id):
        found = self._show(cluster_id)
        return None if found is None else _cluster(found)

    def named(self, name, project_id):
        ids = [each['uuid'] for each in self._list() if each.get('name') == name]
        found = [shown for each in ids if (shown := self._show(each)) is not None
                 and shown.get('project_id') == project_id]
        found.sort(key=lambda each: each.get('created_at') or '')
        return [_cluster(each) for each in found]

    def names(self):
        return {each['uuid']: each.get('name') or '' for each in self._list()}

    def create(self, name, fields):
        body = {'name': name, **{key: value for key, value in fields.items()
                                 if value not in (None, {})}}
        if 'labels' in body:
            body['merge_labels'] = True
        with _refused():
            cluster_id = self._adapter.post('/clusters', json=body).json()['uuid']
        _await(lambda: self._is_whole(cluster_id))
        return cluster_id

    def resize(self, cluster_id, group_id, node_count, remove=()):
        with _refused():
            self._adapter.post(f'/clusters/{_quoted(cluster_id)}/actions/resize', json={
                'node_count': node_count, 'nodegroup': group_id, 'nodes_to_remove': list(remove)})

    def delete(self, cluster_id):
        with faults.ignored_if_absent():
            self._adapter.delete(f'/clusters/{_quoted(cluster_id)}')

    def groups(self, cluster_id):
        path = f'/clusters/{_quoted(cluster_id)}/nodegroups'
        try:
            listed = self._pages(path, 'nodegroups')
            # The list leaves out the status and its reason.
            return [_group(self._adapter.get(f'{path}/{each["uuid"]}').json())
                    for each in listed]
        except keystone_errors.NotFound as error:
            if faults.is_login(error):
                raise
            return []

    def create_group(self, cluster_id, name, node_count, flavor_id):
        try:
            with _refused():
                self._adapter.post(f'/clusters/{_quoted(cluster_id)}/nodegroups', json={
                    'name': name, 'node_count': node_count, 'flavor_id': flavor_id})
        except keystone_errors.Conflict as error:
            if name in {each.name for each in self.groups(cluster_id)}:
                return
            raise errors.StillBusy(service='Magnum', reason=faults.said(error)) from error
        _await(lambda: name in {each.name for each in self.groups(cluster_id)})

    def delete_group(self, cluster_id, group_id):
        with faults.ignored_if_absent():
            self._adapter.delete(
                f'/clusters/{_quoted(cluster_id)}/nodegroups/{_quoted(group_id)}')

    def quota(self, project_id):
        used = self._adapter.get('/stats', params={'project_id': project_id}).json()['clusters']
        quota = self._adapter.get(f'/quotas/{_quoted(project_id)}/Cluster').json()
        return used, quota['hard_limit']

    def _show(self, cluster_id):
        """Return what Magnum shows of a cluster, or None."""
        try:
            return self._adapter.get(f'/clusters/{_quoted(cluster_id)}').json()
        except keystone_errors.NotFound as error:
            if faults.is_login(error):
                raise
            return None

    def _is_whole(self, cluster_id):
        # Before its node groups are written, Magnum answers 400 for the lack of a count.
        with contextlib.suppress(keystone_errors.BadRequest):
            return self._show(cluster_id) is not None
        return False

    def _list(self):
        return self._pages('/clusters', 'clusters')

    def _pages(self, path, key):
        found, marker = [], {}
        while True:
            page = self._adapter.get(path, params={'limit': _PAGE, **marker}).json()
            found += page[key]
            # The server may have a lower limit than the one that was asked for.
            if not page[key] or not page.get('next'):
                return found
            marker = {'marker': page[key][-1]['uuid']}


def _await(is_shown):
    """Wait a moment until Magnum shows what it has accepted."""
    deadline = time.monotonic() + _SHOWN_SECONDS
    while not is_shown() and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)


def _quoted(text):
    return parse.quote(text, safe='')


@contextlib.contextmanager
def _refused():
    """Tell the owner what Magnum says of the owner's own request, such as a label that is wrong.

    :raises CloudError: the request is wrong, or forbidden, such as by a quota.
    """
    try:
        yield
    except (keystone_errors.BadRequest, keystone_errors.Forbidden) as error:
        if faults.is_login(error):
            raise
        raise errors.CloudError.plain('Magnum', faults.said(error)) from error


def _cluster(found):
    return models.Cluster(
        id=found['uuid'], name=found.get('name') or '', project_id=found['project_id'],
        status=found.get('status') or '', reason=found.get('status_reason') or '',
        flavor_id=found.get('flavor_id') or None)


def _group(found):
    return models.NodeGroup(
        id=found['uuid'], name=found['name'], status=found.get('status') or '',
        reason=found.get('status_reason') or '', role=found.get('role') or '',
        node_count=found['node_count'], is_default=bool(found.get('is_default')))
