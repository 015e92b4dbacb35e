# SPDX-License-Identifier: Apache-2.0
"""The preview of a stack, and the check that the stack creates no leases itself."""
from climate import errors
from climate.plugins.stack import aliases
from climate.plugins.stack import template_parameters

_SERVER = 'OS::Nova::Server'
# The prefixes of types of resources that create leases.
_LEASES = ('OS::Blazar::', 'OS::Climate::')


def of(cloud, request, spec, occasion):
    """Return the StackPreview of a request, made with the token of the caller.

    :raises BadField: Heat refuses the stack, the stack creates leases itself, or the template lacks
        a parameter.
    """
    if occasion.caller is None:
        # With Climate's own token, the preview could show objects of other projects.
        raise errors.NotAuthenticated()
    names = _names(request)
    try:
        preview = cloud.as_service().stacks.preview(spec, occasion.caller)
    except errors.BadRequest as error:
        raise errors.BadField(field='template', reason=(
            f'Heat refuses the stack: {error.message[:500]}')) from error
    preview = aliases.resolved(preview, names)
    problem = _of_leases(preview)
    if problem is not None:
        raise errors.BadField(field='template', reason=problem)
    for field, name in template_parameters.named(request):
        if name not in preview.parameters:
            declared = ', '.join(sorted(preview.parameters)) or 'none'
            raise errors.BadField(field=field, reason=(
                f'the template declares no parameter "{name}"; it declares: {declared[:500]}.'))
    return preview


def at_start(owner, request, spec):
    """Return the StackPreview of a stack that is created next.

    Its parts may differ from the preview of the request, because Climate sets more parameters now.

    :param owner: the Heat interface, as the owner.
    :raises CloudError: Heat refuses the stack, or the stack creates leases itself.
    """
    try:
        preview = aliases.resolved(owner.preview(spec), aliases.of(request['environment']))
    except errors.BadRequest as error:
        raise errors.CloudError.plain('Heat', error.message[:500]) from error
    problem = _of_leases(preview)
    if problem is not None:
        raise errors.CloudError.plain('Heat', f'The stack is not created: {problem}')
    return preview


def servers(preview):
    """Return the StackParts that are servers."""
    return [part for part in preview.parts if part.kind == _SERVER]


def _names(request):
    """Return the aliases of types in the environment of a request.

    :raises BadField: one of them stands for a type that creates leases.
    """
    names = aliases.of(request['environment'])
    kind = next((kind for kind in names.values() if kind.startswith(_LEASES)), None)
    if kind is not None:
        raise errors.BadField(field='environment', reason=(
            f'its resource_registry has a name for {kind[:100]}, which makes a lease itself: '
            'leave it out, and add a reservation to the lease of the stack instead.'))
    return names


def _of_leases(preview):
    """Return the sentence that a stack creates leases itself, or None."""
    part = next((part for part in preview.parts if part.kind.startswith(_LEASES)), None)
    return None if part is None else (
        f'its resource "{part.name}" is of type {part.kind} and makes a lease itself: leave it '
        'out, and add a reservation to the lease of the stack instead.')
