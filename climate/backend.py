# SPDX-License-Identifier: Apache-2.0
"""The concurrency backend of a process, chosen before other modules are imported.

oslo.messaging imports oslo.service, which uses eventlet unless a backend was chosen before.
Therefore each program imports this module first.
"""
import warnings

from oslo_config import cfg
from oslo_service import backend

# futurist imports eventlet if it is installed, and eventlet then warns that it is deprecated. An
# operator who runs Climate on threads can do nothing about that.
warnings.filterwarnings('ignore', message=r'\s*Eventlet is deprecated')


def prefer_threads():
    """Make threads the default backend of oslo.service; `choose` can still change it."""
    backend.register_backend_default_hook(lambda: backend.BackendType.THREADING)


def choose(argv, program):
    """Set the backend of oslo.service to [manager] backend of the configuration.

    eventlet replaces parts of the standard library, which must happen before other modules import
    them. Therefore this function reads the configuration files for this option only.

    :param argv: the command line, without the name of the program.
    :param program: the name of the program, such as "climate-manager".
    :raises SystemExit: a file cannot be read, or names an unknown backend.
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
    except (OSError, UnicodeDecodeError):
        # The program reads the files again, and reports it.
        name = backend.BackendType.THREADING.value
    use(name)


def use(name):
    """Set the backend of oslo.service by name: "threading" or "eventlet"."""
    kind = backend.BackendType(name)
    if kind is backend.BackendType.EVENTLET:
        import eventlet
        eventlet.monkey_patch()
    backend.init_backend(kind)


def _after(argv, flag):
    """Yield (flag, value) for each `flag VALUE` and `flag=VALUE` in a command line."""
    for place, word in enumerate(argv):
        if word == flag and place + 1 < len(argv):
            yield flag, argv[place + 1]
        elif word.startswith(flag + '='):
            yield flag, word.partition('=')[2]
