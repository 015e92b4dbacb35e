# SPDX-License-Identifier: Apache-2.0
"""Aliases: the names that the environment of a stack gives to types of resources.

Heat shows the resources of a preview under these names.
"""
import dataclasses
import functools

from climate import errors
from climate import yaml_text

_REGISTRY = 'resource_registry'
# The key of the aliases for single resources in a registry, {resource: {alias: type}}.
_OF_RESOURCES = 'resources'
_ANY = '*'
# An alias may stand for another alias. A chain may have at most this length.
_LONGEST_CHAIN = 10
# The number of aliases is limited, because each type in a preview is compared with each alias.
_MOST_NAMES = 1000


def of(environment):
    """Return {alias: type} of an environment, which is an object or a text.

    An alias and its type may end with an asterisk, which stands for any text.

    :raises BadField: the environment is malformed, or has too many aliases.
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
    """Return the StackPreview with types instead of aliases.

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
    for _ in range(_LONGEST_CHAIN):
        target = names.get(kind) or _by_pattern(kind, patterns)
        if target is None:
            break
        kind = target
    return kind


def _by_pattern(kind, patterns):
    """Return the type that the first matching alias with an asterisk gives, or None.

    :param patterns: pairs (alias without its asterisk, type).
    """
    for start, target in patterns:
        if kind.startswith(start):
            return target.removesuffix(_ANY) + (
                kind.removeprefix(start) if target.endswith(_ANY) else '')
    return None
