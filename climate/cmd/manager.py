# SPDX-License-Identifier: Apache-2.0
"""climate-manager: the daemon that keeps the promises."""
import sys

from climate import backend


def main():
    """Run until SIGTERM or Ctrl-C, or carry out "audit"."""
    backend.choose(sys.argv[1:], 'climate-manager')
    # Only now: what it imports must find the backend chosen.
    from climate.cmd import manager_service
    return manager_service.run(sys.argv[1:])
