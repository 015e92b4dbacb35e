# SPDX-License-Identifier: Apache-2.0
"""Find the rules of extensions of a lease, and how far they let its owner extend it."""
from climate.domain.limits import extensions
from climate.manager.limits import books


def rules_of(core, lease, now):
    """Return the rules of extensions that apply to a lease. Do not call it in a transaction."""
    book = books.known(core, now)
    if book is None or not book.extensions:
        return ()
    registry = core.registry
    uses = {(each.resource_type, pool) for each in lease.reservations
            for pool in _pools(registry, each.resource_type)}
    return extensions.applying(book, lease, uses)


def _pools(registry, resource_type):
    """Return the names of the pools of a type; a type without pools, or not enabled, has ''."""
    plugin = registry.plugins.get(resource_type)
    return [pool.name for pool in plugin.pools] if plugin is not None and plugin.pools else ['']


def of_lease(core, lease, now, in_steps=False):
    """Return the ``extensions.Bound`` of a lease that has begun; None: no rule restricts it.

    :param in_steps: see ``extensions.tightest``.
    """
    return extensions.tightest(rules_of(core, lease, now), lease, now, in_steps)
