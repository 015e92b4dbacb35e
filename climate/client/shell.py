# SPDX-License-Identifier: Apache-2.0
"""The ``climate`` command."""
import argparse
from collections.abc import Mapping
import difflib
import importlib.metadata
import io
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

if typing.TYPE_CHECKING:
    from climate.client import service


class Commands(commandmanager.CommandManager):
    """The commands of ``commands.TABLE``, each imported when used."""

    def _load_commands(self) -> None:
        for name, target in commands.TABLE.items():
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
        return parser

    def run(self, argv: list[str]) -> int:
        try:
            options.add_others(self.parser, argv, self.environ)
        except errors.ClientError as error:
            self.stderr.write(f'{error}\n')
            return 2 if isinstance(error, errors.BadValue) else 1
        try:
            code = super().run(argv or ['--help'])
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
            file = logging.FileHandler(self.options.log_file)
            file.setFormatter(logging.Formatter(self.LOG_FILE_MESSAGE_FORMAT))
            self._handlers.append(file)
        if level > logging.INFO:
            # The errors of the client are clearer than these warnings.
            logging.getLogger('keystoneauth').setLevel(logging.ERROR)
            logging.getLogger('stevedore').setLevel(logging.CRITICAL)
        root = logging.getLogger()
        root.setLevel(level)
        for handler in self._handlers:
            root.addHandler(handler)

    def initialize_app(self, argv: list[str]) -> None:
        self.client_manager = Connection(self.options, self.environ)

    def print_help_if_requested(self) -> None:
        if not self.options.deferred_help:
            return
        # The method of cliff would search all installed distributions for each command.
        self.stdout.write(self.parser.format_help() + '\nCommands:\n')
        for name, entry in sorted(self.command_manager):
            # Python with -OO or PYTHONOPTIMIZE=2 removes the docstrings.
            first_line = (entry.load().__doc__ or '').strip().partition('\n')[0]
            self.stdout.write(f'  {name:<16}  {first_line}'.rstrip() + '\n')
        self.stdout.write('\nSee "climate COMMAND --help" for the arguments of one.\n')
        raise cliff_help.HelpExit

    def get_fuzzy_matches(self, cmd: str) -> list[str]:
        names = sorted(name for name, _entry in self.command_manager)
        nouns = {name.partition(' ')[0] for name in names}
        # The nearest first.
        near = [cmd] if cmd in nouns else difflib.get_close_matches(cmd, nouns) or sorted(nouns)
        return [name for noun in near for name in names if name.partition(' ')[0] == noun]

    def clean_up(self, cmd: typing.Any, result: int, err: BaseException | None) -> None:
        # argparse exits with the same code for mistakes that it finds itself.
        self._misunderstood = isinstance(err, errors.BadValue)
        if self.options.debug and isinstance(err, errors.ClientError):
            self.stderr.write(f'Error {err.name or type(err).__name__}, status {err.status}, '
                              f'request id {err.request_id}\n')


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # The encoding of the terminal may lack letters that names have.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors='backslashreplace')
    return Shell().run(sys.argv[1:] if argv is None else argv)


if __name__ == '__main__':
    sys.exit(main())
