# SPDX-License-Identifier: Apache-2.0
"""climate-manager, which writes down the calls to the cloud that each event makes.

``CLIMATE_CALLS`` names the file: a line of JSON for each call, with the lease, the kind of the
event, the method and the address of the call, when it began (seconds since the epoch) and how long
it took.
"""
import contextvars
import json
import os
import sys
import time

from keystoneauth1 import session

from climate import backend


def main():
    """Run the daemon."""
    backend.choose(sys.argv[1:], 'climate-manager')
    # Imported here, because the concurrency backend must be chosen before its imports.
    from climate.cmd import manager_service
    from climate.manager.events import actions
    _watch(actions.Actions, os.environ['CLIMATE_CALLS'])
    return manager_service.run(sys.argv[1:])


def _watch(actions, path):
    claimed = contextvars.ContextVar('claimed', default=None)
    perform, request = actions.perform, session.Session.request

    def performed(self, claim):
        claimed.set(claim)
        try:
            return perform(self, claim)
        finally:
            claimed.set(None)

    def requested(self, url, method, **more):
        claim, began = claimed.get(), time.time()
        try:
            return request(self, url, method, **more)
        finally:
            if claim is not None:
                with open(path, 'a', encoding='utf-8') as file:
                    file.write(json.dumps({
                        'lease': claim.lease.id, 'event': claim.event.kind, 'method': method,
                        'url': url, 'at': began, 'seconds': time.time() - began}) + '\n')
    actions.perform, session.Session.request = performed, requested


if __name__ == '__main__':
    sys.exit(main())
