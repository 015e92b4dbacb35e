# SPDX-License-Identifier: Apache-2.0
"""The ``climate`` command."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import importlib.metadata
import itertools
import logging
import os
import sys
import typing

from cliff import app
from cliff import commandmanager
from cliff import help as cliff_help

from climate import version
from climate.client import commands
from climate.client import errors
from climate.client import options
from climate.client import terminal_text
from climate.client.commands import argument_errors
from climate.client.commands import overview

if typing.TYPE_CHECKING:
    from climate.client import service


class Commands(commandmanager.CommandManager):
    """The commands of ``commands.TABLE``, each imported when used."""

    def _load_commands(self) -> None:
        for name, target in {**commands.TABLE, **commands.OWN}.items():
            self.commands[name] = importlib.metadata.EntryPoint(name, target, self.namespace or '')


class Connection:
    """The connection of the commands to the service; logs in at the first use."""

    def __init__(self, given: argparse.Namespace, environ: Mapping[str, str]) -> None:
        self._given = given
        self._environ = environ
        self._client: service.Client | None = None

    @property
    def climate(self) -> 'service.Client':
        if self._client is None:
            from climate.client import login
            self._client = login.client(self._given, self._environ)
        return self._client


class HelpCommand(cliff_help.HelpCommand):
    """Show this help, or the help about a command or a group of commands."""

    app: 'Shell'

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        words, known = parsed_args.cmd, self.app.command_manager.commands
        program = self.app.NAME
        if not words:
            self.app.stdout.write(overview.of_all(program, known))
        elif words == ['options']:
            self.app.stdout.write(self.app.parser.format_help())
        elif self.app.is_group(words):
            self.app.stdout.write(overview.of_group(program, words[0], known))
        else:
            return int(super().take_action(parsed_args))
        return 0


class Shell(app.App):
    """The ``climate`` command line.

    :param environ: environment variables; None: those of the process.
    """

    NAME = 'climate'

    def __init__(self, *, stdin: typing.TextIO | None = None,
                 stdout: typing.TextIO | None = None, stderr: typing.TextIO | None = None,
                 environ: Mapping[str, str] | None = None) -> None:
        self.environ = os.environ if environ is None else environ
        super().__init__('Reserve resources of a cloud for a period of time.', version.text(),
                         Commands('climate.cli'), stdin=stdin, stdout=stdout, stderr=stderr,
                         deferred_help=True)
        self.command_manager.add_command('help', HelpCommand)
        self.command_manager.commands.pop('complete', None)
        self._handlers: list[logging.Handler] = []
        self._misunderstood = False

    def build_option_parser(self, description: str | None, version: str | None,
                            argparse_kwargs: dict[str, typing.Any] | None = None
                            ) -> argparse.ArgumentParser:
        parser = super().build_option_parser(
            description, version, {**(argparse_kwargs or {}), 'prog': self.NAME,
                                   'usage': '%(prog)s [options] COMMAND [arguments]'})
        for action in parser._actions:
            if isinstance(action, argparse._VersionAction):
                action.version = f'{self.NAME} {version}'
        options.add_to(parser)
        parser.add_argument('--time-zone', metavar='ZONE', help=(
            'The zone of times that you write and of tables, such as Europe/Berlin or UTC. '
            'Default: TZ, or the zone of this machine. Other formats, such as JSON, have UTC.'))
        argument_errors.install(parser)
        return parser

    def run(self, argv: list[str]) -> int:
        try:
            options.add_others(self.parser, argv, self.environ)
        except errors.ClientError as error:
            self.stderr.write(f'{error}\n')
            return 2 if isinstance(error, errors.BadValue) else 1
        try:
            code = super().run(argv or ['help'])
            return 2 if self._misunderstood else code
        finally:
            # A program that embeds this shell gets its root logger back unchanged.
            for handler in self._handlers:
                logging.getLogger().removeHandler(handler)
                handler.close()
            self._handlers.clear()

    def configure_logging(self) -> None:
        if self.options.debug or self.options.verbose_level > 2:
            level = logging.DEBUG
        else:
            level = {0: logging.ERROR, 2: logging.INFO}.get(
                self.options.verbose_level, logging.WARNING)
        console = logging.StreamHandler(self.stderr)
        console.setFormatter(logging.Formatter(self.CONSOLE_MESSAGE_FORMAT))
        self._handlers.append(console)
        if self.options.log_file:
            self._handlers.append(self._log_file(self.options.log_file))
        if level > logging.INFO:
            # The errors of the client are clearer than these warnings.
            logging.getLogger('keystoneauth').setLevel(logging.ERROR)
            logging.getLogger('stevedore').setLevel(logging.CRITICAL)
        root = logging.getLogger()
        root.setLevel(level)
        for handler in self._handlers:
            root.addHandler(handler)

    def _log_file(self, path: str) -> logging.Handler:
        try:
            file = logging.FileHandler(path)
        except OSError as error:
            self.parser.error(f'argument --log-file: "{path}" cannot be written: '
                              f'{error.strerror}.')
        file.setFormatter(logging.Formatter(self.LOG_FILE_MESSAGE_FORMAT))
        return file

    def initialize_app(self, argv: list[str]) -> None:
        self.client_manager = Connection(self.options, self.environ)

    def print_help_if_requested(self) -> None:
        if self.options.deferred_help:
            self.stdout.write(overview.of_all(self.NAME, self.command_manager.commands))
            raise cliff_help.HelpExit

    def run_subcommand(self, argv: list[str]) -> int:
        words = [*itertools.takewhile(lambda word: not word.startswith('-'), argv)]
        if words[:1] == ['help']:
            argv = words
        elif self.is_group(words) and len(words) == len(argv):
            argv = ['help', *words]
        wanted = argv[1:] if argv[0] == 'help' else argv
        if wanted and wanted != ['options'] and not self.is_group(wanted):
            try:
                self.command_manager.find_command(wanted)
            except ValueError:
                self._refuse(wanted, words[1:] if argv[0] == 'help' else words)
                return 2
        return int(super().run_subcommand(argv))

    def is_group(self, words: Sequence[str]) -> bool:
        """Return whether the words are the first word of several commands."""
        return len(words) == 1 and any(
            name.startswith(f'{words[0]} ') for name, _entry in self.command_manager)

    def _refuse(self, argv: Sequence[str], words: Sequence[str]) -> None:
        """Report an unknown command, and the nearest ones."""
        if words:
            text = f'There is no command "{" ".join(words)}".'
            near = overview.near(words, self.command_manager.commands)
            hint = ' or '.join(f'"{self.NAME} {name}"' for name in near[:3])
            hint = f'Did you mean {hint}? ' if near else ''
        else:
            text, hint = argument_errors.unknown_option(self.parser, argv[0])
        self.stderr.write(argument_errors.with_hint(
            text, f'{hint}"{self.NAME} help" lists all commands and options.') + '\n')

    def clean_up(self, cmd: typing.Any, result: int, err: BaseException | None) -> None:
        # argparse exits with the same code for mistakes that it finds itself.
        self._misunderstood = isinstance(err, errors.BadValue)
        if self.options.debug and isinstance(err, errors.ClientError):
            self.stderr.write(f'Error {err.name or type(err).__name__}, status {err.status}, '
                              f'request id {err.request_id}\n')


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    if '_ARGCOMPLETE' in os.environ:
        from climate.client import completion
        completion.answer(os.environ)
    terminal_text.prepare(sys.stdout, sys.stderr)
    words = []
    for word in sys.argv[1:] if argv is None else argv:
        try:
            words.append(terminal_text.argument(word))
        except ValueError:
            sys.stderr.write(argument_errors.with_hint(
                f'The argument {word!r} is not text in UTF-8.',
                'Set the encoding of your terminal, for example with LC_ALL=C.UTF-8.') + '\n')
            return 2
    return Shell().run(words)


if __name__ == '__main__':
    sys.exit(main())
