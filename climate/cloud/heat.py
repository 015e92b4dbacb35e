# SPDX-License-Identifier: Apache-2.0
"""Heat: the stacks of projects.

An administrator, such as Climate's own login, reads, suspends, resumes and deletes the stacks of
all projects, even if the path of a call names another project. So `find` checks the project.
"""
import re

from keystoneauth1 import exceptions as keystone_errors

from climate import errors
from climate.cloud import base
from climate.cloud import faults
from climate.cloud import models

# An endpoint of Heat; its last part is the project of the token.
_ENDPOINT = re.compile(r'(?P<root>.*/v1)/[^/]+/?')
_ID = re.compile('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# Parameters that each template has without declaring them.
_PSEUDO = 'OS::'
_NESTED_DEPTH = 5
_DELETED = ('DELETE', 'COMPLETE')
_REFUSALS = (keystone_errors.BadRequest, keystone_errors.Forbidden)
# log=False below: keystoneauth would log the body, which may contain passwords.


class HeatStacks(base.Stacks):
    """The stacks of Heat under one identity."""

    def __init__(self, connection):
        super().__init__(connection)
        self._adapter = connection.rest()

    def preview(self, spec, context=None):
        arguments = {}
        if context is not None:
            if not context.auth_token:
                raise errors.NotAuthenticated()
            # The caller's token makes the preview, so it shows only what the caller may see.
            arguments = {**self._in(context.project_id), 'authenticated': False,
                         'headers': {'X-Auth-Token': context.auth_token}}
        try:
            with faults.replaced(
                    (*_REFUSALS, keystone_errors.NotFound),
                    lambda error: errors.BadRequest(reason=_message(error))):
                answer = self._adapter.post('/stacks/preview', json=_body(spec), log=False,
                                            **arguments)
        except keystone_errors.Unauthorized as error:
            if context is None:
                raise
            raise errors.NotAuthenticated() from error
        shown = answer.json()['stack']
        return models.StackPreview(
            parameters={name: value for name, value in (shown.get('parameters') or {}).items()
                        if not name.startswith(_PSEUDO)},
            parts=tuple(_flat(shown['resources'])))

    def create(self, spec):
        try:
            with faults.replaced(_REFUSALS, lambda error: errors.CloudError.plain(
                    self.service, _message(error))):
                answer = self._adapter.post('/stacks', json=_body(spec), log=False)
        except keystone_errors.Conflict as error:
            raise errors.Conflict(reason=_message(error)) from error
        return answer.json()['stack']['id']

    def find(self, project_id, name_or_id):
        if not _ID.fullmatch(name_or_id):
            # Heat looks a name in a path up in the project of the token, not in that of the path.
            answer = self._adapter.get('/stacks', params={'name': name_or_id},
                                       **self._in(project_id))
            return next((_stack(shown) for shown in answer.json()['stacks']
                         if shown['stack_name'] == name_or_id and _is_of(project_id, shown)), None)
        with faults.ignored_if_absent():
            # Heat redirects to the address with both the name and the id.
            answer = self._adapter.get(f'/stacks/{name_or_id}', **self._in(project_id))
            shown = answer.json()['stack']
            return _stack(shown) if _is_of(project_id, shown) else None
        return None

    def suspend(self, project_id, stack):
        self._act(project_id, stack, 'suspend')

    def resume(self, project_id, stack):
        self._act(project_id, stack, 'resume')

    def delete(self, project_id, stack):
        with faults.ignored_if_absent():
            self._adapter.delete(_path(stack), **self._in(project_id))

    def parts(self, project_id, stack):
        with faults.ignored_if_absent():
            answer = self._adapter.get(f'{_path(stack)}/resources', **self._in(project_id),
                                       params={'nested_depth': _NESTED_DEPTH})
            return [models.StackPart(
                name=shown['resource_name'], kind=shown['resource_type'],
                status=shown['resource_status'], reason=shown['resource_status_reason'] or '')
                for shown in answer.json()['resources']]
        return []

    def _act(self, project_id, stack, action):
        self._adapter.post(f'{_path(stack)}/actions', json={action: None},
                           **self._in(project_id))

    def _in(self, project_id):
        """Return the arguments with which a call is sent to the path of a project."""
        if project_id is None:
            return {}
        endpoint = self._adapter.get_endpoint()
        match = _ENDPOINT.fullmatch(endpoint or '')
        if match is None:
            raise errors.CloudError(service=self.service, reason=(
                f'its endpoint {endpoint} does not end with /v1/ and a project id.'))
        return {'endpoint_override': f'{match["root"]}/{project_id}'}


def _body(spec):
    body = {'stack_name': spec['name'], 'template': spec['template'],
            'parameters': spec.get('parameters') or {},
            'environment': spec.get('environment') or {}, 'files': spec.get('files') or {},
            'disable_rollback': True}
    if spec.get('tags'):
        body['tags'] = ','.join(spec['tags'])
    if spec.get('timeout_minutes'):
        body['timeout_mins'] = spec['timeout_minutes']
    return body


def _is_of(project_id, shown):
    """Return whether a stack is of a project, which is found only in its address.

    :param project_id: None: any project.
    """
    prefix = shown['links'][0]['href'].rpartition('/stacks/')[0]
    return project_id in (None, prefix.rpartition('/')[2])


def _stack(shown):
    """Return a Stack, or None if it is deleted: by its id Heat still shows it."""
    action, _, progress = shown['stack_status'].partition('_')
    if (action, progress) == _DELETED:
        return None
    return models.Stack(id=shown['id'], name=shown['stack_name'], action=action,
                        progress=progress, reason=shown['stack_status_reason'] or '')


def _path(stack):
    return f'/stacks/{stack.name}/{stack.id}'


def _flat(resources):
    """Yield the StackParts of a preview, in which a nested stack is a list."""
    for resource in resources:
        if isinstance(resource, list):
            yield from _flat(resource)
        else:
            yield models.StackPart(name=resource['resource_name'], kind=resource['resource_type'],
                                   properties=resource.get('properties') or {})


def _message(error):
    """Return the message of Heat for its caller, who may read it."""
    return ' '.join(str(error.message or error).split())


class RealHeatAdapter(base.HeatAdapter):
    """Heat, by its REST API."""

    interfaces = {'stacks': HeatStacks}
