# SPDX-License-Identifier: Apache-2.0
"""Requests for a stack: their fields, their checks, and their stored form."""
import functools

from climate import errors
from climate.domain import lifecycle
from climate.plugins import request_fields
from climate.plugins.stack import capacity
from climate.plugins.stack import template_parameters

#: The values of `on_end`.
ENDINGS = ('delete', 'suspend', 'leave')
_PARAMETER = {'type': ['string', 'null'], 'minLength': 1, 'maxLength': 255}
# A label, a dot and the path of a field.
_FIELD = r'^[A-Za-z0-9][A-Za-z0-9_.-]*\.[A-Za-z0-9_-]+$(?![\n])'
#: JSON schemas of the fields of a request.
PROPERTIES = {
    'template': {
        'description': 'The Heat template from which the stack is created at the start, as an '
                       'object or as text.', 'type': ['object', 'string', 'null']},
    'parameters': {'description': 'Values of the parameters of the template, {name: value}.',
                   'type': ['object', 'null']},
    'environment': {'description': 'The Heat environment, as an object or as text.',
                    'type': ['object', 'string', 'null']},
    'files': {'description': 'The files to which the template and the environment refer, {name: '
                             'text}.',
              'type': ['object', 'null'], 'additionalProperties': {'type': 'string'}},
    'flavor_parameter': {
        'description': 'The parameter of the template with the flavor of its servers, or a list of '
                       'such parameters. Their values in the request define the size of the '
                       'servers. The stack is created with a flavor of the reservation instead.',
        'type': ['string', 'array', 'null'], 'minLength': 1, 'maxLength': 255, 'minItems': 1,
        'maxItems': 20, 'uniqueItems': True,
        'items': {'type': 'string', 'minLength': 1, 'maxLength': 255}},
    'hint_parameter': {
        'description': 'The parameter of the template, of type json, for scheduler hints. The '
                       'stack is created on the hosts of the reservation that it depends on.',
        **_PARAMETER},
    'zone_parameter': {
        'description': 'The parameter of the template for the availability zone. The stack is '
                       'created in the zone of the host reservation that it depends on.',
        **_PARAMETER},
    'lease_parameters': {
        'description': 'Parameters of the template whose values come from another reservation of '
                       'the lease, {name: "LABEL.FIELD"}, such as {"net": "lab.network_id"}. The '
                       'stack must depend on that reservation.',
        'type': ['object', 'null'], 'maxProperties': 100,
        'additionalProperties': {'type': 'string', 'maxLength': 255, 'pattern': _FIELD}},
    'hold_room': {
        'description': 'required: the servers of the stack get capacity on leased hosts. '
                       'preferred: if this is impossible, the lease reserves only its time. null: '
                       'the default of the cloud.',
        'enum': ['required', 'preferred', None]},
    'resource_id': {
        'description': 'The id of an existing stack, which is suspended until the start. Not with '
                       'template.',
        'type': ['string', 'null'], 'pattern': '^[A-Za-z0-9-]+$', 'maxLength': 64},
    'on_end': {'description': 'What happens to the stack at the end. null: the default of the '
                              'cloud.',
               'enum': [*ENDINGS, None]},
}
FIELDS = tuple(PROPERTIES)
#: The fields that may be large or have passwords.
SECRET = frozenset({'template', 'parameters', 'environment', 'files'})
# The fields that describe a new stack.
_OF_TEMPLATES = tuple(name for name in FIELDS if name not in ('resource_id', 'on_end'))
# The last actions after which Heat can suspend and resume a stack. CHECK is not among them.
_USABLE = ('CREATE', 'UPDATE', 'RESUME', 'SUSPEND')


def is_resolved(request):
    """Return True for a request that was resolved."""
    return 'sleeps' in request


def asked(request):
    """Return the part of a request that a client may send."""
    return {name: request[name] for name in FIELDS if request.get(name) is not None}


def spec(request, name, parameters=None, **more):
    """Return the description of a stack for the Heat interface.

    :param parameters: the parameters that Climate sets.
    """
    return {'name': name, 'template': request['template'], 'environment': request['environment'],
            'parameters': {**(request['parameters'] or {}), **(parameters or {})},
            'files': request['files'], **more}


def resolve(options, cloud, request, occasion):
    """Add to a request the capacity for the stack, or the name of the existing stack.

    :param options: the group [virtual:stack] of the configuration.
    :raises BadField: the fields contradict each other, Heat refuses the template, or the project
        has no such stack.
    :raises Conflict: a running reservation cannot be changed in this way.
    """
    if is_resolved(request):
        return request
    if occasion.before is not None:
        return _changed(request, occasion.before)
    _refuse_mixed(request)
    whole = {**dict.fromkeys(FIELDS), **request, 'sleeps': False, 'room': None,
             'resource_name': None, 'time_only': None, 'not_held': None, 'uses': {}}
    if whole['resource_id'] is not None:
        stack = find(cloud, whole['resource_id'], occasion.project_id)
        return {**whole, 'on_end': whole['on_end'] or options.on_end_existing,
                'resource_name': stack.name, 'sleeps': not occasion.starts_now}
    whole |= {'on_end': whole['on_end'] or options.on_end,
              'hold_room': whole['hold_room'] or options.hold_room}
    template_parameters.refuse_bad(whole, occasion.depends_on)
    whole |= capacity.of(cloud, whole, spec(whole, 'climate-preview'), occasion)
    if whole['room'] is not None and whole['on_end'] != 'delete':
        raise errors.BadField(field='on_end', reason=(
            'the capacity of the stack is returned at the end, so that it can only be deleted: use '
            'delete, or leave out flavor_parameter.'))
    return whole


def find(cloud, stack_id, project_id):
    """Return the existing Stack that a request names.

    :raises BadField: the project has no such stack, or it cannot be leased now.
    """
    stack = request_fields.existing(
        'stack', stack_id, functools.partial(cloud.as_service().stacks.find, project_id),
        lambda stack: stack.action != 'DELETE')
    if stack.progress != 'COMPLETE' or stack.action not in _USABLE:
        raise errors.BadField(field='resource_id', reason=(
            f'stack {stack_id} is in the status {stack.status}: wait, or repair it first, so that '
            f'its status is {" or ".join(f"{action}_COMPLETE" for action in _USABLE)}.'))
    return stack


def _refuse_mixed(request):
    named = [name for name in FIELDS if request.get(name) is not None]
    if 'resource_id' in named:
        wrong_fields = [name for name in named if name in _OF_TEMPLATES]
        if wrong_fields:
            raise errors.BadField(field=', '.join(wrong_fields), reason=(
                'resource_id leases a stack that exists, and these describe a new stack: use one '
                'or the other.'))
    elif 'template' not in named:
        raise errors.BadField(field='template', reason=(
            'it is needed for a new stack; for an existing stack send resource_id.'))


def _changed(request, before):
    """Return the request of a reservation after a change of `on_end`.

    :raises Conflict: another field would change.
    """
    present = before.request
    changed = [name for name in FIELDS if name != 'on_end'
               and request.get(name) is not None and request[name] != present.get(name)]
    if changed:
        raise errors.Conflict(reason=(
            f'{", ".join(changed)}: cannot change. Only on_end and the dates can; for other '
            'changes make another lease.'))
    on_end = request.get('on_end') or present['on_end']
    if present['room'] is not None and on_end != 'delete':
        raise errors.BadField(field='on_end', reason=(
            'the capacity of the stack is returned at the end, so that it can only be deleted.'))
    if before.state == lifecycle.RESERVATION_DELETED:
        return dict(present)
    return {**present, 'on_end': on_end}
