# SPDX-License-Identifier: Apache-2.0
"""Hints that follow the errors of commands: the next step of the user."""
from collections.abc import Container
import shlex

from climate.client import errors
from climate.client import times

_CREDENTIALS = ('Check OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME, or the cloud that OS_CLOUD '
                'names.')
_ADDRESS = ('Check that the service runs, and its address: OS_CLOUD, OS_AUTH_URL or OS_ENDPOINT, '
            'and the proxy.')
_ROLE = ('Ask an operator for the role, or choose another project with --os-project-name.')

# Errors that say themselves what would fit.
_OF_LIMITS = frozenset({'limit_exceeded', 'extension_refused'})


def of_error(error: errors.ClientError, prog: str, command: str, known: Container[str]) -> str:
    """Return the hint for an error of a command.

    :param prog: the words before the arguments of the command, such as "climate lease show".
    :param command: the name of the command, such as "lease show".
    :param known: the names of all commands, such as "lease list".
    """
    if error.hint:
        return error.hint
    listing = f'{command.partition(" ")[0]} list'
    program = prog.removesuffix(command).rstrip()
    if isinstance(error, (errors.NotFound, errors.Ambiguous)) and listing in known:
        return f'"{program} {listing}" shows what exists.'
    if error.name == 'unknown_property':
        return f'"{program} property list" shows the properties, and which values are free.'
    if isinstance(error, errors.Overloaded | errors.TooManyRequests | errors.NoAnswerInTime):
        return _later(error)
    if isinstance(error, errors.NotAuthenticated | errors.NotConfigured):
        return _CREDENTIALS
    if error.name in _OF_LIMITS and 'limit list' in known:
        return f'"{program} limit list" shows the limits and rules, and what is used of them.'
    if isinstance(error, errors.Forbidden):
        return _ROLE
    if isinstance(error, errors.Unreachable | errors.ServiceMissing | errors.AnswerUnreadable
                  | errors.NotAcceptable):
        return _ADDRESS
    if isinstance(error, errors.ServerError):
        request = f' with the request id {error.request_id}' if error.request_id else ''
        return f'Try again; if it fails again, send this message to the operator{request}.'
    if isinstance(error, errors.Conflict) and command == 'lease create':
        return _free_time(error, program)
    if isinstance(error, errors.Conflict) and command.startswith('lease '):
        return (f'"{program} lease show LEASE" shows the state of the lease, and "{program} lease '
                'explain LEASE" its history.')
    return f'"{prog} --help" shows the arguments.'


def _later(error: errors.ClientError) -> str:
    seconds = error.retry_after_seconds
    return f'Try again in {seconds:g} seconds.' if seconds else 'Try again in a moment.'


def _free_time(error: errors.ClientError, program: str) -> str:
    nearest = error.details.get('nearest')
    if not nearest and error.details.get('values'):
        name = shlex.quote(str(next(iter(error.details['values']))))
        return f'"{program} property show {name}" counts the resources of each value.'
    if not nearest:
        return f'"{program} availability" with the same resources finds free times.'
    start = times.iso(times.moment(nearest, times.utcnow()))
    return (f'Set --start {start}, the first time that fits, with --duration instead of --end; or '
            '--acquire wait to queue for it.')
