# SPDX-License-Identifier: Apache-2.0
"""The table of all commands. In ``openstack`` the word "reservation" precedes each.

The entry points of ``openstack`` in ``setup.cfg`` are the table of both programs.
"""
import importlib.metadata

from climate import version

_GROUP, _PREFIX = 'openstack.extension', 'reservation_'


def _table() -> dict[str, str]:
    """Read {command: "module:attribute"} from the entry points of this distribution."""
    try:
        points = importlib.metadata.distribution(version.DISTRIBUTION).entry_points
    except importlib.metadata.PackageNotFoundError:
        return {}
    return {point.name.removeprefix(_PREFIX).replace('_', ' '): point.value
            for point in points.select(group=_GROUP)}


TABLE = _table()
#: The commands that only ``climate`` has, not ``openstack``.
OWN = {'completion': 'climate.client.commands.completion:PrintCompletion'}
