# SPDX-License-Identifier: Apache-2.0
"""The preview of a stack, and what may not be in it."""
from climate import errors
from climate.plugins.stack import handover

_SERVER = 'OS::Nova::Server'
# Types of other packages by which a template makes leases itself.
_LEASES = ('OS::Blazar::', 'OS::Climate::')


def of(cloud, request, spec, occasion):
    """Return the StackPreview of a request, made with the token of the caller.

    :raises BadField: Heat refuses the stack, it makes leases itself, or it lacks a parameter.
    """
    if occasion.caller is None:
        # As the service, Heat would look at what belongs to others.
        raise errors.NotAuthenticated()
    try:
        preview = cloud.as_service().stacks.preview(spec, occasion.caller)
    except errors.BadRequest as error:
        raise errors.BadField(field='template', reason=(
            f'Heat refuses the stack: {error.message[:500]}')) from error
    _refuse_leases(preview)
    for field, name in handover.named(request):
        if name not in preview.parameters:
            declared = ', '.join(sorted(preview.parameters)) or 'none'
            raise errors.BadField(field=field, reason=(
                f'the template declares no parameter "{name}"; it declares: {declared[:500]}.'))
    return preview


def servers(preview):
    """Return the StackParts that are servers."""
    return [each for each in preview.parts if each.kind == _SERVER]


def _refuse_leases(preview):
    found = [each for each in preview.parts if each.kind.startswith(_LEASES)]
    if found:
        raise errors.BadField(field='template', reason=(
            f'its resource "{found[0].name}" is of type {found[0].kind} and makes a lease itself: '
            'leave it out, and lease what it asks for in the same lease as the stack.'))
