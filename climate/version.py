# SPDX-License-Identifier: Apache-2.0
"""Which release of Climate this is."""
from importlib import metadata


def text():
    """The version of the installed package, '0' where it is run without being installed."""
    try:
        return metadata.version('climate')
    except metadata.PackageNotFoundError:
        return '0'
