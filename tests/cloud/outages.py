# SPDX-License-Identifier: Apache-2.0
"""Answers of the services of the real cloud while a part of them is down.

``tests/support/outage_answers.json`` has the recorded ones: {"service/part": {call: [status,
body]}}, with a status of None if there is no answer.
"""
import concurrent.futures
import contextlib
import json
import pathlib
import re

import clusters
from openstack import exceptions
import requests
import scene as scenes

from tools.cloud import processes
from tools.cloud import settings

TABLE = pathlib.Path(__file__).parents[1] / 'support' / 'outage_answers.json'
# Services wait 60 s for an answer on the bus; without it some never answer.
SECONDS = 75
_ID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}')

#: {part: the processes that are stopped}. One that the others need is a part, too.
PARTS = {
    'bus': ('rabbitmq',), 'database': ('mariadb',), 'keystone': ('keystone',),
    'nova-conductor': ('nova-conductor',), 'nova-scheduler': ('nova-scheduler',),
    'nova-compute': ('nova-compute1', 'nova-compute2', 'nova-compute3', 'nova-compute4'),
    'cinder-scheduler': ('cinder-scheduler',), 'cinder-volume': ('cinder-volume',),
    'heat-engine': ('heat-engine',), 'magnum-conductor': ('magnum-conductor',),
    'placement': ('placement',), 'glance': ('glance',), 'neutron': ('neutron',),
    'apis': ('keystone', 'nova-api', 'placement', 'glance', 'neutron', 'cinder-api', 'heat-api',
             'magnum-api'),
}
#: {part: the services whose answers are recorded}; the others do not use it.
_OF_PART = {
    'bus': ('nova', 'neutron', 'cinder', 'heat', 'magnum'),
    'nova-conductor': ('nova',), 'nova-scheduler': ('nova',), 'nova-compute': ('nova',),
    'cinder-scheduler': ('cinder',), 'cinder-volume': ('cinder',),
    'heat-engine': ('heat',), 'magnum-conductor': ('magnum',),
    'placement': ('nova', 'neutron'), 'glance': ('nova', 'cinder', 'heat'),
    'neutron': ('nova', 'heat'),
}
_LOCATIONS = {'nova': 'compute', 'glance': 'image', 'neutron': 'networking', 'cinder': 'volume',
              'heat': 'heat-api', 'magnum': 'container-infra', 'placement': 'placement',
              'keystone': 'identity'}
_VERSIONS = {'nova': 'compute 2.90', 'magnum': 'container-infra 1.10',
             'placement': 'placement 1.28'}
#: Of all that the calls make.
_NAME = 'outage'
_TEMPLATE = {'heat_template_version': '2021-04-16',
             'resources': {'word': {'type': 'OS::Heat::RandomString'}}}


class Recorder:
    """Calls of every service with a token that was made before the outage."""

    def __init__(self, admin, server_id, template_id):
        """Prepare the calls.

        :param server_id: a running server.
        :param template_id: a template of clusters.
        """
        self._server_id, self._template_id = server_id, template_id
        self._project_id = admin.current_project_id
        self._headers = {'X-Auth-Token': admin.auth_token, 'Content-Type': 'application/json'}

    def calls(self, service):
        """Return {call: (method, path, body)} of a service."""
        nothing = '0' * 32
        return {
            'keystone': {
                'read': ('GET', '/v3/OS-TRUST/trusts', None),
                'login': ('POST', '/v3/auth/tokens', self._login()),
                'delete': ('DELETE', f'/v3/OS-TRUST/trusts/{nothing}', None)},
            'nova': {
                'read': ('GET', '/v2.1/os-aggregates', None),
                'hypervisors': ('GET', '/v2.1/os-hypervisors/detail', None),
                'server': ('GET', f'/v2.1/servers/{self._server_id}', None),
                'change': ('POST', '/v2.1/os-aggregates', {'aggregate': {'name': _NAME}}),
                'image': ('POST', f'/v2.1/servers/{self._server_id}/action',
                          {'createImage': {'name': _NAME}}),
                'console': ('POST', f'/v2.1/servers/{self._server_id}/action',
                            {'os-getConsoleOutput': {}})},
            'placement': {
                'read': ('GET', '/resource_providers', None),
                'change': ('PUT', '/resource_classes/CUSTOM_OUTAGE', None)},
            'glance': {
                'read': ('GET', '/v2/images', None),
                'delete': ('DELETE', f'/v2/images/{_dashed(nothing)}', None)},
            'neutron': {
                'read': ('GET', '/v2.0/networks', None),
                'create': ('POST', '/v2.0/networks', {'network': {'name': _NAME}}),
                'delete': ('DELETE', f'/v2.0/floatingips/{_dashed(nothing)}', None)},
            'cinder': {
                'read': ('GET', f'/v3/{self._project_id}/types', None),
                'pools': ('GET', f'/v3/{self._project_id}/scheduler-stats/get_pools', None),
                'create': ('POST', f'/v3/{self._project_id}/volumes', {
                    'volume': {'size': 1, 'name': _NAME}}),
                'quota': ('GET', f'/v3/{self._project_id}/os-quota-sets/{self._project_id}', None)},
            'heat': {
                'read': ('GET', f'/v1/{self._project_id}/stacks', None),
                'preview': ('POST', f'/v1/{self._project_id}/stacks/preview', {
                    'stack_name': _NAME, 'template': _TEMPLATE}),
                'create': ('POST', f'/v1/{self._project_id}/stacks', {
                    'stack_name': _NAME, 'template': _TEMPLATE}),
                'delete': ('DELETE', f'/v1/{self._project_id}/stacks/{_NAME}/{_dashed(nothing)}',
                           None)},
            'magnum': {
                'read': ('GET', '/v1/clusters', None),
                'create': ('POST', '/v1/clusters', {
                    'name': _NAME, 'cluster_template_id': self._template_id, 'node_count': 1}),
                'delete': ('DELETE', f'/v1/clusters/{_dashed(nothing)}', None)},
        }[service]

    def usual(self):
        """Return {(service, call): status} while all is well."""
        return {key: status for key, (status, _) in self._ask(tuple(_LOCATIONS), False).items()}

    def record(self, part, usual):
        """Return {"service/part": {call: [status, body]}} of the answers that are not the usual."""
        found = {}
        answers = self._ask(_OF_PART.get(part, tuple(_LOCATIONS)), part == 'apis')
        for (service, name), (status, body) in answers.items():
            if status != usual[service, name]:
                found.setdefault(f'{service}/{part}', {})[name] = [status, body]
        return found

    def _ask(self, services, front):
        asked = {(service, name): call for service in services
                 for name, call in self.calls(service).items()}
        with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
            answers = pool.map(lambda key: self._answer(key[0], asked[key], front), asked)
            return dict(zip(asked, answers, strict=True))

    def _answer(self, service, call, front):
        method, path, body = call
        base = (f'{settings.url("nginx")}/{_LOCATIONS[service]}' if front
                else settings.url(service))
        version = {'OpenStack-API-Version': _VERSIONS[service]} if service in _VERSIONS else {}
        try:
            answer = requests.request(
                method, base + path, json=body, headers=self._headers | version, timeout=SECONDS)
        except requests.RequestException as error:
            return None, type(error).__name__
        return answer.status_code, _ID.sub('ID', answer.text)[:2000]

    @staticmethod
    def _login():
        return {'auth': {'identity': {'methods': ['password'], 'password': {'user': {
            'name': 'climate', 'domain': {'name': 'Default'}, 'password': settings.PASSWORD}}},
            'scope': {'project': {'name': 'service', 'domain': {'name': 'Default'}}}}}


def _dashed(text):
    return '-'.join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def processes_of(part):
    """Return the processes of a part, or the only one if it is a process itself."""
    return PARTS.get(part, (part,))


def stop(cloud, part):
    """Stop the processes of a part."""
    for name in processes_of(part):
        processes.stop(cloud, name)


def forget(scene):
    """Delete what the calls made."""
    scenes.until(lambda: _is_forgotten(scene.people['admin']), 'the calls to be undone', 120, 1)
    scene.people['admin'].placement.delete('/resource_classes/CUSTOM_OUTAGE', microversion='1.2')


def _is_forgotten(admin):
    compute, network, storage = admin.compute, admin.network, admin.block_storage
    kinds = ((compute.aggregates, compute.delete_aggregate),
             (network.networks, network.delete_network), (storage.volumes, storage.delete_volume),
             (admin.orchestration.stacks, admin.orchestration.delete_stack),
             (admin.image.images, admin.image.delete_image))
    left = [(each, delete) for read, delete in kinds for each in read() if each.name == _NAME]
    magnum = clusters.Magnum(admin)
    for each, delete in left:
        with contextlib.suppress(exceptions.SDKException):
            delete(each)
    made = magnum.named(_NAME)
    for each in made:
        with contextlib.suppress(AssertionError):
            magnum.call('DELETE', f'/clusters/{each}')
    return not left and not made


def recorded():
    """Return the table."""
    return json.loads(TABLE.read_text()) if TABLE.exists() else {}


def keep(found):
    """Add answers to the table."""
    TABLE.write_text(json.dumps(recorded() | found, indent=1, sort_keys=True) + '\n')
