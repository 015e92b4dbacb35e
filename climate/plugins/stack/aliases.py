# SPDX-License-Identifier: Apache-2.0
"""The names that the environment of a stack gives to types of resources.

Heat shows the resources of a preview under these names.
"""
import dataclasses

import yaml

from climate import errors

_REGISTRY = 'resource_registry'
# The entry of a registry with names for single resources, {resource: {name: type}}.
_OF_RESOURCES = 'resources'
_ANY = '*'
# A name may stand for another name; so many steps are followed.
_MOST_STEPS = 10


def of(environment):
    """Return {name: the type for which it stands} of an environment, an object or a text.

    A name and its type may end with an asterisk, which stands for any text.

    :raises BadField: the environment is malformed.
    """
    if isinstance(environment, str):
        try:
            environment = yaml.safe_load(environment)
        except yaml.YAMLError as error:
            raise errors.BadField(field='environment', reason=(
                f'it is not YAML: {str(error)[:200]}.')) from error
    registry = _mapping(_mapping(environment).get(_REGISTRY))
    single = _mapping(registry.get(_OF_RESOURCES)).values()
    # YAML can repeat one mapping any number of times at no cost.
    tables = [registry, *{id(each): _mapping(each) for each in single}.values()]
    return {name: said for table in tables for name, said in table.items()
            if isinstance(name, str) and isinstance(said, str)}


def resolved(preview, names):
    """Return a StackPreview whose parts have the types for which their names stand.

    :param names: what `of` returned.
    """
    return dataclasses.replace(preview, parts=tuple(
        dataclasses.replace(each, kind=_resolved(each.kind, names)) for each in preview.parts))


def _mapping(said):
    return said if isinstance(said, dict) else {}


def _resolved(kind, names):
    for _ in range(_MOST_STEPS):
        found = names.get(kind) or _by_pattern(kind, names)
        if found is None:
            break
        kind = found
    return kind


def _by_pattern(kind, names):
    """Return the type for which a name with an asterisk lets a type stand, or None."""
    for name, said in names.items():
        start = name.removesuffix(_ANY)
        if start != name and kind.startswith(start):
            return said.removesuffix(_ANY) + (
                kind.removeprefix(start) if said.endswith(_ANY) else '')
    return None
