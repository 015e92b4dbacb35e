# SPDX-License-Identifier: Apache-2.0
"""The names that the environment of a stack gives to types of resources.

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
# A name may stand for another name; so many steps are followed.
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
    names = {name: said for table in (registry, *map(_mapping, single))
             for name, said in table.items() if isinstance(said, str)}
    if len(names) > _MOST_NAMES:
        raise errors.BadField(field='environment', reason=(
            f'its resource_registry has {len(names)} names; use at most {_MOST_NAMES}.'))
    return names


def resolved(preview, names):
    """Return a StackPreview whose parts have the types for which their names stand.

    :param names: what `of` returned.
    """
    patterns = [(name.removesuffix(_ANY), said) for name, said in names.items()
                if name.endswith(_ANY)]
    kind_of = functools.cache(lambda kind: _resolved(kind, names, patterns))
    return dataclasses.replace(preview, parts=tuple(
        dataclasses.replace(each, kind=kind_of(each.kind)) for each in preview.parts))


def _mapping(said):
    return said if isinstance(said, dict) else {}


def _resolved(kind, names, patterns):
    for _ in range(_MOST_STEPS):
        found = names.get(kind) or _by_pattern(kind, patterns)
        if found is None:
            break
        kind = found
    return kind


def _by_pattern(kind, patterns):
    """Return the type for which a name with an asterisk lets a type stand, or None.

    :param patterns: pairs (the name without its asterisk, the type for which it stands).
    """
    for start, said in patterns:
        if kind.startswith(start):
            return said.removesuffix(_ANY) + (
                kind.removeprefix(start) if said.endswith(_ANY) else '')
    return None
