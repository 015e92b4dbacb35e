# SPDX-License-Identifier: Apache-2.0
"""climate-manager: the daemon that carries out the leases."""
import sys

from climate import backend


def main():
    """Run the daemon until SIGTERM or Ctrl-C, or carry out the command "audit"."""
    backend.choose(sys.argv[1:], 'climate-manager')
    # The import is here, because the concurrency backend must be chosen before it.
    from climate.cmd import manager_service
    return manager_service.run(sys.argv[1:])
