# SPDX-License-Identifier: Apache-2.0
"""The version of Climate."""
from importlib import metadata


def text():
    """Return the version of the installed package, '0' if Climate is not installed."""
    try:
        return metadata.version('climate')
    except metadata.PackageNotFoundError:
        return '0'
