# SPDX-License-Identifier: Apache-2.0
"""Whole managers that work by themselves, with their threads and the real clock."""
import contextlib

from climate.manager import service


@contextlib.contextmanager
def running(conf, database, clock=None, **options):
    """A manager that works in the block; `options` are those of [manager]."""
    found = made(conf, database, clock=clock, **options)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def made(conf, database, login_seconds=10, clock=None, **options):
    """A manager that was not started yet; `options` are those of [manager]."""
    for name, value in {'poll_seconds': 0.05, **options}.items():
        conf.set_override(name, value, group='manager')
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    conf.register_opts([], group='oslo_messaging_notifications')
    return service.Manager(conf, serve_rpc=False, login_seconds=login_seconds, clock=clock)
