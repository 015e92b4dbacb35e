# SPDX-License-Identifier: Apache-2.0
"""The version of Climate, and the name under which it is installed."""
import functools
from importlib import metadata

#: The name of the distribution. "climate" on PyPI is somebody else's.
DISTRIBUTION = 'openstack-climate'


@functools.cache
def text() -> str:
    """Return the version of the installed package, '0' if Climate is not installed."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return '0'
