# SPDX-License-Identifier: Apache-2.0
"""The concurrency of a process, chosen before anything else is imported.

oslo.messaging imports oslo.service, and oslo.service takes eventlet unless it was told otherwise
before; so each program comes here first.
"""
import warnings

from oslo_config import cfg
from oslo_service import backend

# futurist looks whether eventlet is there, and eventlet says of itself that it is old: nothing
# that somebody who starts Climate on threads can do anything about.
warnings.filterwarnings('ignore', message=r'\s*Eventlet is deprecated')


def prefer_threads():
    """Let oslo.service use threads, unless `choose` says otherwise later."""
    backend.register_backend_default_hook(lambda: backend.BackendType.THREADING)


def choose(argv, program):
    """Let oslo.service use what [manager] backend says in the configuration of `program`.

    eventlet replaces parts of the standard library, which must happen before other modules take
    hold of them; that is why the files are read here for this one option alone.

    :raises SystemExit: a file cannot be read, or names another backend.
    """
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt('backend', default='threading', choices=[
        each.value for each in backend.BackendType]), group='manager')
    named = [word for flag in ('--config-file', '--config-dir') for word in _after(argv, flag)]
    try:
        conf([], project='climate', prog=program, default_config_files=[
            path for flag, path in named if flag == '--config-file'] or None,
            default_config_dirs=[path for flag, path in named if flag == '--config-dir'] or None)
        name = conf.manager.backend
    except cfg.Error as error:
        raise SystemExit(f'{program}: {error}') from error
    use(name)


def use(name):
    """Let oslo.service use the backend of that name: "threading" or "eventlet"."""
    kind = backend.BackendType(name)
    if kind is backend.BackendType.EVENTLET:
        import eventlet
        eventlet.monkey_patch()
    backend.init_backend(kind)


def _after(argv, flag):
    """(flag, value) for each time that `flag` stands in a command line, in both spellings."""
    for place, word in enumerate(argv):
        if word == flag and place + 1 < len(argv):
            yield flag, argv[place + 1]
        elif word.startswith(flag + '='):
            yield flag, word.partition('=')[2]
