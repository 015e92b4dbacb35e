# SPDX-License-Identifier: Apache-2.0
"""A paste filter that kills nova-api in the middle of a request to boot, when a file says so.

It stands behind Climate's own filter. The file, whose path is the option `flag` in api-paste.ini,
says "before": what is behind was not asked yet; or "after": it has answered. It works once.
"""
import contextlib
import os
import pathlib
import signal


def filter_factory(global_conf, flag):
    """Make the filter, for paste."""
    return lambda app: KillSwitch(app, pathlib.Path(flag))


class KillSwitch:
    """An application that may kill its own process."""

    def __init__(self, app, flag):
        self._app = app
        self._flag = flag

    def __call__(self, environ, start_response):
        boots = environ['REQUEST_METHOD'] == 'POST' and environ['PATH_INFO'].endswith('/servers')
        moment = self._moment() if boots else None
        if moment == 'before':
            os.kill(os.getpid(), signal.SIGKILL)
        answer = self._app(environ, start_response)
        if moment == 'after':
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    def _moment(self):
        with contextlib.suppress(FileNotFoundError):
            said = self._flag.read_text().strip()
            # Or the process that comes after this one would be killed as well.
            self._flag.unlink()
            return said
        return None
