# SPDX-License-Identifier: Apache-2.0
"""Completion of the arguments of ``climate`` in bash, zsh and fish, with values of the service.

argcomplete does it: it calls the program with the line in the environment. Commands whose words are
not in the line are not loaded.
"""
import argparse
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import importlib
import os
import sys
import traceback
import typing

from climate import version
from climate.client import completion_cache
from climate.client import errors
from climate.client import shell as shell_module
from climate.client.commands import overview

if typing.TYPE_CHECKING:
    from climate.client import service

SHELLS = ('bash', 'zsh', 'fish')
#: The environment variable that names a file for the errors of completions.
LOG_VARIABLE = 'CLIMATE_COMPLETION_LOG'
# These decide what the service answers; passwords are not needed to tell callers apart.
_SECRET = ('password', 'secret', 'passcode')
_POOLS = ('host', 'address', 'segment', 'backend')
# Properties that all hosts have.
_OF_HOSTS = {'vcpus': '', 'memory_mb': '', 'local_gb': ''}
_OPERATORS = '<>=!'
_NO_POOL = ' '

Values = completion_cache.Values


def script(shell: str) -> str:
    """Return the text that a shell reads to complete the arguments of ``climate``.

    :raises NotConfigured: argcomplete is not installed.
    """
    _argcomplete()
    code = importlib.import_module('argcomplete.shell_integration')
    # Without file names: arguments that are files have them by themselves.
    return str(code.shellcode(['climate'], use_defaults=False, shell=shell))


def answer(environ: Mapping[str, str]) -> typing.NoReturn:
    """Print the completions of the line in the environment, and exit."""
    sys.stdin = open(os.devnull)    # noqa: SIM115 - until the program ends
    try:
        argcomplete = _argcomplete()
        line, point = environ.get('COMP_LINE', ''), int(environ.get('COMP_POINT') or 0)
        words = argcomplete.split_line(line, point)[3][1:]
        argcomplete.autocomplete(
            parser_of(words, environ), always_complete_options=False,
            default_completer=argcomplete.completers.SuppressCompleter())
    except Exception:    # noqa: BLE001 - a shell shows no message of a completion
        _log_error(environ)
    os._exit(1)


def _log_error(environ: Mapping[str, str]) -> None:
    """Append the traceback of the present error to the file that a variable names."""
    path = environ.get(LOG_VARIABLE)
    if path:
        with contextlib.suppress(OSError), open(path, 'a', encoding='utf-8') as log:
            traceback.print_exc(file=log)


def parser_of(words: Sequence[str], environ: Mapping[str, str]) -> argparse.ArgumentParser:
    """Make a parser of the whole program, in which the command of the words has its arguments."""
    shell = shell_module.Shell(environ=environ)
    typed = [word for word in words if not word.startswith('-')]
    known = shell.command_manager.commands
    nouns = shell.parser.add_subparsers(parser_class=argparse.ArgumentParser)
    for noun in dict.fromkeys(name.partition(' ')[0] for name in sorted(known)):
        about = overview.about(noun)
        if noun in known:
            parser = nouns.add_parser(noun, help=overview.sentence(known[noun]))
            if noun in typed:
                nouns._name_parser_map[noun] = _arguments(shell, noun, environ)
            continue
        parser = nouns.add_parser(noun, help=about)
        if noun in typed:
            _add_verbs(parser, shell, {name.partition(' ')[2]: name for name in
                                       overview.of_word(known, noun)}, typed, environ)
    return shell.parser


def _add_verbs(parser: argparse.ArgumentParser, shell: 'shell_module.Shell',
               names: Mapping[str, str], typed: Sequence[str], environ: Mapping[str, str]) -> None:
    """Add the parsers of commands to the parser of their first words.

    :param names: {words of a verb: name of the command}.
    """
    verbs = parser.add_subparsers(parser_class=argparse.ArgumentParser)
    known = shell.command_manager.commands
    for first in dict.fromkeys(verb.partition(' ')[0] for verb in names):
        if first in names:
            verbs.add_parser(first, help=overview.sentence(known[names[first]]))
            if first in typed:
                verbs._name_parser_map[first] = _arguments(shell, names[first], environ)
            continue
        group = verbs.add_parser(first)
        if first in typed:
            _add_verbs(group, shell, {verb.partition(' ')[2]: name for verb, name in names.items()
                                      if verb.partition(' ')[0] == first}, typed, environ)


def _arguments(shell: 'shell_module.Shell', name: str, environ: Mapping[str, str]
               ) -> argparse.ArgumentParser:
    command = shell.command_manager.commands[name].load()
    parser: argparse.ArgumentParser = command(shell, None, name).get_parser(f'climate {name}')
    pool = getattr(command, 'pool', None)
    for action in parser._actions:
        values = _VALUES.get(str(action.metavar)) or _VALUES.get(f'{action.dest}:')
        if values:
            action.completer = _completer(values, pool, environ)    # type: ignore[attr-defined]
        elif action.metavar == 'FILE':
            completers = importlib.import_module('argcomplete.completers')
            action.completer = completers.FilesCompleter()    # type: ignore[attr-defined]
    return parser


class Question(typing.NamedTuple):
    """The facts for a completer: the service, the pool, and the arguments before the cursor."""

    client: 'service.Client'
    pool: str
    parsed: argparse.Namespace


def _completer(ask: Callable[[Question], Values], pool: str | None, environ: Mapping[str, str]
               ) -> Callable[..., Values]:
    def complete(prefix: str, parsed_args: argparse.Namespace, **_more: typing.Any) -> Values:
        named = pool or getattr(parsed_args, 'pool', None) or 'host'
        connection = shell_module.Connection(_with_defaults(parsed_args), environ)
        lease = getattr(parsed_args, 'lease', None) or ''
        key = [ask.__name__, named, lease if ask is _resources else '',
               *_identity(parsed_args, environ)]
        values = completion_cache.values('\0'.join(key), lambda: ask(
            Question(connection.climate, named, parsed_args)), environ)
        return _operators(values, prefix) if ask is _conditions else values

    return complete


def _with_defaults(parsed_args: argparse.Namespace) -> argparse.Namespace:
    return argparse.Namespace(**{'insecure': None, **vars(parsed_args)})


def _identity(parsed_args: argparse.Namespace, environ: Mapping[str, str]) -> list[str]:
    """Return the options and variables that select the service and the user, without secrets."""
    from climate.client import standalone
    given = {**{f'OS_{name[3:]}'.upper(): value for name, value in vars(parsed_args).items()
                if name.startswith('os_') and value}}
    merged = {**{name: value for name, value in environ.items() if name.startswith('OS_')}, **given}
    running = standalone.find(environ)
    return [f'{name}={value}' for name, value in sorted(merged.items())
            if not any(word in name.lower() for word in _SECRET)] + [
                f'{running.url} {running.token}' if running else '']


def _leases(question: Question) -> Values:
    return {lease['name']: lease['status']
            for lease in question.client.leases.living_first(limit=200)}


def _pools(question: Question) -> Values:
    try:
        list(question.client.pool(_NO_POOL).list(limit=1))
    except errors.NotFound as error:
        return dict.fromkeys(str(error.details.get('enabled', '')).split(', '), '')
    return {}


def _resources(question: Question) -> Values:
    """Return the hosts of the lease in the line, or the resources of the pool."""
    if getattr(question.parsed, 'lease', None) and question.pool == 'host':
        lease = question.client.leases.find(question.parsed.lease)
        return {resource['name'] or resource['id']: resource['pool']
                for resource in question.client.leases.resources(lease['id'])}
    pool = question.client.hosts if question.pool == 'host' else question.client.pool(question.pool)
    return {str(resource[pool.name_field]): question.pool for resource in pool.list(limit=1000)}


def _properties(question: Question) -> Values:
    pool = question.client.hosts if question.pool == 'host' else question.client.pool(question.pool)
    return {prop['property']: '' for prop in pool.properties.list()}


def _conditions(question: Question) -> Values:
    """Return the names of properties, and conditions with the values that resources have."""
    pool = question.client.hosts if question.pool == 'host' else question.client.pool(question.pool)
    found = dict(_OF_HOSTS) if question.pool == 'host' else {}
    for prop in pool.properties.list(detail=True):
        found[prop['property']] = ''
        found.update({f'{prop["property"]}={value}': '' for value in prop.get('values') or ()})
    return found


def _operators(values: Values, prefix: str) -> Values:
    """Return the names with an operator behind them, until one was typed; then the conditions."""
    if any(letter in prefix for letter in _OPERATORS):
        return {value: text for value, text in values.items() if '=' in value}
    return {f'{value}=': text for value, text in values.items() if '=' not in value}


def _offers(question: Question) -> Values:
    return {offer['id']: f'from {offer["start"]}' for offer in question.client.offers.list()}


def _maintenances(question: Question) -> Values:
    return {each['id']: each['reason'] for each in question.client.maintenances.list()}


def _subscriptions(question: Question) -> Values:
    return {each['id']: each.get('name') or each['transport']
            for each in question.client.subscriptions.list()}


#: {placeholder of an argument, or its name and a colon: the question to the service}.
_VALUES: Mapping[str, Callable[[Question], Values]] = {
    'LEASE': _leases, 'POOL': _pools, 'PROPERTY': _properties, 'CONDITION': _conditions,
    'RESOURCE': _resources, **{pool.upper(): _resources for pool in _POOLS},
    'OFFER': _offers, 'offer:': _offers, 'MAINTENANCE': _maintenances,
    'SUBSCRIPTION': _subscriptions}


def _argcomplete() -> typing.Any:
    try:
        return importlib.import_module('argcomplete')
    except ImportError as error:
        raise errors.NotConfigured(
            'Completion needs argcomplete, which is not installed.', hint=(
                f"python3 -m pip install '{version.DISTRIBUTION}[completion]'")) from error
