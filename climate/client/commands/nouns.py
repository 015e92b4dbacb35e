# SPDX-License-Identifier: Apache-2.0
"""Commands with the name of a pool as their noun, made from the commands of all pools.

An entry point names the pool and the command: ``climate.client.commands.nouns:address.List`` is
``climate resource list --pool address``. A new noun needs lines in ``setup.cfg`` only.
"""
import functools
import typing

from climate.client.commands import resource


@functools.cache
def of_pool(pool: str) -> type:
    """Make a class whose attributes are the commands of a pool: Create, List, Show and so on."""
    one = f'{"an" if pool[0] in "aeiou" else "a"} {pool}'
    attributes: dict[str, typing.Any] = {'__doc__': f'The commands of the pool {pool}.'}
    for word, command, description in (
            ('Create', resource.CreateResource, f'Enrol {one}, so that it can be leased.'),
            ('List', resource.ListResources, f'List the resources of the pool {pool}.'),
            ('Show', resource.ShowResource, f'Show {one} and its properties.'),
            ('Set', resource.SetResource,
             f'Set or remove properties of {one}, or take it out of use.'),
            ('Wake', resource.WakeResource, f'Wake {one} that sleeps.'),
            ('Sleep', resource.SleepResource, f'Put {one} to sleep that nobody has leased.'),
            ('Delete', resource.DeleteResources,
             f'Remove resources from the pool {pool}; the cloud keeps them.')):
        attributes[word] = type(f'{word}{pool.capitalize()}', (command,), {
            '__doc__': description, '__module__': __name__, 'pool': pool,
            'named': f'Name or id of the {pool}.'})
    return type(pool.capitalize(), (), attributes)


def __getattr__(name: str) -> type:
    if name.startswith('_'):
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return of_pool(name)
