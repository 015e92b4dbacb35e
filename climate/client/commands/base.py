# SPDX-License-Identifier: Apache-2.0
"""Base classes of all commands, for ``climate`` and for ``openstack``."""
import argparse
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import os
import re
import typing

from cliff import command
from cliff import lister
from cliff import show

from climate.client import commands
from climate.client import errors
from climate.client import terminal_text
from climate.client import times
from climate.client.commands import argument_errors
from climate.client.commands import arguments
from climate.client.commands import columns
from climate.client.commands import help_format
from climate.client.commands import hints
from climate.client.commands import moment_arguments
from climate.client.commands import table_width

if typing.TYPE_CHECKING:
    from climate.client import service


# A word that begins with a negative number is a value, such as "-1h".
_NUMERIC = re.compile(r'-\.?\d')
LONG = ('--long', {'action': 'store_true', 'help': 'Show more columns.'})


class ClientCommand(command.Command):
    """A command; its help ends with the text of ``example``."""

    app: typing.Any
    auth_required = True
    example = ''
    #: Arguments of the command: pairs (name, keywords of ``add_argument``).
    parameters: Sequence[tuple[str, dict[str, typing.Any]]] = ()

    @property
    def client(self) -> 'service.Client':
        """The client of the program that runs the command; it logs in at the first use."""
        return typing.cast('service.Client', self.app.client_manager.climate)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        self._prog = prog_name
        self._parser = parser = super().get_parser(prog_name)
        parser.formatter_class = help_format.HelpFormatter
        # argparse takes every other word that begins with a dash for an option. So "-1h" would get
        # the message that a value is missing, not the one of its argument.
        parser._negative_number_matcher = _NUMERIC
        argument_errors.install(parser, self._example)
        for name, keywords in self.parameters:
            parser.add_argument(name, **keywords)
        return parser

    def get_epilog(self) -> str:
        # The method of cliff names the distribution of a command. To find it, it reads the metadata
        # of all installed distributions, which takes 0.2 seconds.
        return f'Example: {self._example}' if self.example else ''

    @property
    def _example(self) -> str:
        """The example with the words of the program that runs the command; '' without one."""
        noun = self.example.partition(' ')[0]
        program = self._prog.partition(f' {noun}')[0]
        return f'{program} {self.example}' if self.example else ''

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Carry out the command; an error gets a hint for the user."""
        terminal_text.prepare(self.app.stdout, self.app.stderr)
        try:
            return self._in_zone(parsed_args)
        except errors.ClientError as error:
            command = (self.cmd_name or '').removeprefix('reservation ')
            error.hint = hints.of_error(error, self._prog, command, commands.TABLE)
            raise

    def _in_zone(self, parsed_args: argparse.Namespace) -> int:
        """Understand moments in the zone of the user, say how, and carry out the command."""
        # A command about series has its own argument for the zone.
        own = parsed_args if getattr(parsed_args, 'time_zone', None) else self.app.options
        zone = moment_arguments.zone(own, getattr(self.app, 'environ', os.environ))
        lines = moment_arguments.understand(parsed_args, zone, {
            action.dest: action.option_strings[0] for action in self._parser._actions
            if action.option_strings and action.help != argparse.SUPPRESS})
        if getattr(self.app.options, 'verbose_level', 1):
            self.app.stderr.write(''.join(f'{line}\n' for line in lines))
        with times.shown_in(zone):
            return self.carry_out(parsed_args)

    def carry_out(self, parsed_args: argparse.Namespace) -> int:
        """Carry out the command and return its exit code."""
        return int(super().run(parsed_args) or 0)

    def for_each(self, names: Iterable[str], noun: str, action: Callable[[str], None]) -> None:
        """Call `action` with every name, and go on after failures.

        :param noun: the noun for messages, such as "lease".
        :raises ClientError: some actions failed; each failure was printed.
        """
        all_names = list(dict.fromkeys(names))
        failed = 0
        for name in all_names:
            try:
                action(name)
            except errors.ClientError as error:
                if len(all_names) == 1:
                    raise
                failed += 1
                self.app.stderr.write(f'{name}: {error.message}\n')
        if failed:
            raise errors.ClientError(
                f'{failed} of {len(all_names)} {noun}s failed.',
                hint='The others are done: repeat the command with the failed ones only.')


class Lister(ClientCommand, lister.Lister):
    """A command that prints a list.

    A table fits the terminal, and has its ids last. -c takes all columns, those of --long too.
    """

    #: The columns of a table for which the terminal is too narrow.
    _left_out: Sequence[str] = ()

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        arguments.also_named(parser, '--sort-by', dest='sort_columns', action='append')
        return parser

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Sequence[str],
                       data: Iterable[Sequence[typing.Any]]) -> int:
        # cliff can sort None among numbers, but not ''.
        is_table = parsed_args.formatter == 'table'
        if is_table:
            data = [*data]
        if is_table and not parsed_args.sort_columns:
            data = [_for_people(row) for row in data]
            if not parsed_args.columns:
                column_names, data = self._fitted(parsed_args, column_names, data)
        if is_table and not data and not parsed_args.print_empty:
            code = 0
            self.app.stdout.write(f'{self.nothing(parsed_args)}\n')
        else:
            code = int(super().produce_output(parsed_args, column_names, data) or 0)
        # Programs, which read other formats, add up by themselves.
        if is_table:
            width = table_width.of_terminal(self.app.stdout)
            lines = [*self.summary(parsed_args)]
            if self._left_out:
                lines.append(f'Left out: {", ".join(self._left_out)}. A wider terminal or -c '
                             'shows them.')
            self.app.stdout.write(''.join(
                f'{table_width.line_wrapped(line, width)}\n' for line in lines))
        return code

    def _fitted(self, parsed_args: argparse.Namespace, names: Sequence[str],
                rows: Sequence[Sequence[typing.Any]]) -> table_width.Table:
        names, rows = table_width.ids_last(names, rows)
        width = None if is_sized(parsed_args) else table_width.of_terminal(self.app.stdout)
        if width is None:
            return names, rows
        self._left_out = names
        names, rows = table_width.fitted(names, rows, width)
        self._left_out = self._left_out[len(names):]
        return names, rows

    def nothing(self, parsed_args: argparse.Namespace) -> str:
        """Return the line for people instead of a table without rows."""
        return 'Nothing found.'

    def summary(self, parsed_args: argparse.Namespace) -> Sequence[str]:
        """Return the lines below a table for people."""
        return ()

    @staticmethod
    def is_narrow(parsed_args: argparse.Namespace) -> bool:
        """Return whether the list is a table for people without chosen columns and --long."""
        return parsed_args.formatter == 'table' and not (
            parsed_args.columns or parsed_args.sort_columns or getattr(parsed_args, 'long', False))


class ShowOne(ClientCommand, show.ShowOne):
    """A command that prints one object; its table fits the terminal."""

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Sequence[str],
                       data: Sequence[typing.Any]) -> int:
        if parsed_args.formatter == 'table':
            data = _for_people(data)
            width = None if is_sized(parsed_args) else table_width.of_terminal(self.app.stdout)
            data = data if width is None else columns.fitted(column_names, data, width)
        return int(super().produce_output(parsed_args, column_names, data) or 0)


class Silent(ClientCommand):
    """A command that prints nothing on success."""


def _for_people(cells: Iterable[typing.Any]) -> list[typing.Any]:
    """Return the cells of a table; unknown and absent values are empty."""
    return ['' if cell is None else cell for cell in cells]


def is_sized(parsed_args: argparse.Namespace) -> bool:
    """Return whether the arguments name the width of tables, or let cliff find it."""
    return bool(parsed_args.max_width > 0 or parsed_args.fit_width)
