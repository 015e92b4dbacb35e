# SPDX-License-Identifier: Apache-2.0
"""Aliases: the names that the environment of a stack gives to types of resources.

Heat shows the resources of a preview under these names.
"""
import dataclasses
import functools

from climate import errors
from climate import yaml_text

_REGISTRY = 'resource_registry'
# The entry of a registry with names for single resources, {resource: {name: type}}.
_OF_RESOURCES = 'resources'
_ANY = '*'
# A name may stand for another name; at most this number of steps is followed.
_MOST_STEPS = 10
# Each type in a preview is compared with each name.
_MOST_NAMES = 1000


def of(environment):
    """Return {name: the type for which it stands} of an environment, an object or a text.

    A name and its type may end with an asterisk, which stands for any text.

    :raises BadField: the environment is malformed.
    """
    if isinstance(environment, str):
        try:
            environment = yaml_text.read(environment)
        except ValueError as error:
            raise errors.BadField(field='environment', reason=f'{error}.') from error
    registry = _mapping(_mapping(environment).get(_REGISTRY))
    single = _mapping(registry.get(_OF_RESOURCES)).values()
    names = {name: kind for table in (registry, *map(_mapping, single))
             for name, kind in table.items() if isinstance(kind, str)}
    if len(names) > _MOST_NAMES:
        raise errors.BadField(field='environment', reason=(
            f'its resource_registry has {len(names)} names; use at most {_MOST_NAMES}.'))
    return names


def resolved(preview, names):
    """Return a StackPreview whose parts have the types for which their names stand.

    :param names: the result of `of`.
    """
    patterns = [(name.removesuffix(_ANY), kind) for name, kind in names.items()
                if name.endswith(_ANY)]
    kind_of = functools.cache(lambda kind: _resolved(kind, names, patterns))
    return dataclasses.replace(preview, parts=tuple(
        dataclasses.replace(part, kind=kind_of(part.kind)) for part in preview.parts))


def _mapping(value):
    return value if isinstance(value, dict) else {}


def _resolved(kind, names, patterns):
    for _ in range(_MOST_STEPS):
        target = names.get(kind) or _by_pattern(kind, patterns)
        if target is None:
            break
        kind = target
    return kind


def _by_pattern(kind, patterns):
    """Return the type for which a name with an asterisk makes a type stand, or None.

    :param patterns: pairs (the name without its asterisk, the type for which it stands).
    """
    for start, target in patterns:
        if kind.startswith(start):
            return target.removesuffix(_ANY) + (
                kind.removeprefix(start) if target.endswith(_ANY) else '')
    return None
