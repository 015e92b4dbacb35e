# SPDX-License-Identifier: Apache-2.0
"""Which strategies of a best effort are installed."""
from importlib import metadata

NAMESPACE = 'climate.acquire.strategies'


def names():
    """The names of all installed strategies, in order."""
    return sorted(point.name for point in metadata.entry_points(group=NAMESPACE))
