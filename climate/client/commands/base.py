# SPDX-License-Identifier: Apache-2.0
"""Base classes of all commands, for ``climate`` and for ``openstack``."""
import argparse
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import re
import typing

from cliff import command
from cliff import lister
from cliff import show

from climate.client import errors
from climate.client.commands import arguments
from climate.client.commands import columns

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
        parser = super().get_parser(prog_name)
        # argparse takes every other word that begins with a dash for an option. So "-1h" would get
        # the message that a value is missing, not the one of its argument.
        parser._negative_number_matcher = _NUMERIC
        for name, keywords in self.parameters:
            parser.add_argument(name, **keywords)
        return parser

    def get_epilog(self) -> str:
        # The method of cliff names the distribution of a command. To find it, it reads the metadata
        # of all installed distributions, which takes 0.2 seconds.
        return f'Example: {self.example}' if self.example else ''

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
            raise errors.ClientError(f'{failed} of {len(all_names)} {noun}s failed.')


class Lister(ClientCommand, lister.Lister):
    """A command that prints a list.

    A table has at most 120 columns of text with usual names, unless --long asks for more. -c takes
    all columns, those of --long too.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        arguments.also_named(parser, '--sort-by', dest='sort_columns', action='append')
        return parser

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Sequence[str],
                       data: Iterable[Sequence[typing.Any]]) -> int:
        # cliff can sort None among numbers, but not ''.
        is_table = parsed_args.formatter == 'table'
        if is_table and not parsed_args.sort_columns:
            data = [_for_people(row) for row in data]
        code: int = super().produce_output(parsed_args, column_names, data)
        # Programs, which read other formats, add up by themselves.
        if is_table:
            self.app.stdout.write(''.join(f'{line}\n' for line in self.summary(parsed_args)))
        return code

    def summary(self, parsed_args: argparse.Namespace) -> Sequence[str]:
        """Return the lines below a table for people."""
        return ()

    @staticmethod
    def is_narrow(parsed_args: argparse.Namespace) -> bool:
        """Return whether the list is a table for people without chosen columns and --long."""
        return parsed_args.formatter == 'table' and not (
            parsed_args.columns or parsed_args.sort_columns or getattr(parsed_args, 'long', False))


class ShowOne(ClientCommand, show.ShowOne):
    """A command that prints one object; its table has at most 120 columns of text."""

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Sequence[str],
                       data: Sequence[typing.Any]) -> int:
        sized = getattr(parsed_args, 'max_width', 0) or getattr(parsed_args, 'fit_width', False)
        if parsed_args.formatter == 'table':
            data = _for_people(data)
            data = data if sized else columns.fitted(column_names, data)
        return super().produce_output(parsed_args, column_names, data)


class Silent(ClientCommand):
    """A command that prints nothing on success."""


def _for_people(cells: Iterable[typing.Any]) -> list[typing.Any]:
    """Return the cells of a table; unknown and absent values are empty."""
    return ['' if cell is None else cell for cell in cells]
