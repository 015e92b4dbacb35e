# SPDX-License-Identifier: Apache-2.0
"""The enrolled resources of a pool that meet criteria."""
from climate.db import resources
from climate.domain import requirement
from climate.domain import selection
from climate.manager.booking import criteria
from climate.plugins import base


def matching(core, connection, pool, text, hidden=True):
    """Return the Resources of a pool that meet criteria, by id.

    :param text: the criteria as JSON text.
    :param hidden: whether the criteria may name resources and use private properties.
    :raises BadRequest: the criteria are malformed, or name an unknown property.
    :raises Forbidden: the criteria name a resource although `hidden` is False.
    """
    need = base.Need('', pool, selection.Demand(selection.WHOLE, 1, 1), requirement.parse(text))
    criteria.check_names(core, connection, need, hidden)
    enrolled = {resource.id: resource for resource in resources.find(connection, pool)}
    return [enrolled[key] for key in criteria.matching(core, connection, need, enrolled)]
