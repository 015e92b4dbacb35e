# SPDX-License-Identifier: Apache-2.0
"""Base classes of commands that take a lease as argument, and the progress of a wait."""
import argparse
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
import contextlib
import typing

from climate.client import errors
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import lease_sections
from climate.client.commands import lease_view
from climate.client.commands import table_width

LEASE = ('lease', {'metavar': 'LEASE', 'help': 'Name or id of the lease.'})


class WaitProgress:
    """Shows the progress of a wait: one rewritten line on a terminal, else one for each status.

    A context manager that is called with the lease and the seconds waited.

    :param quiet: show nothing.
    """

    def __init__(self, stream: typing.TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._rewrites = stream.isatty()
        self._last = ''

    def __call__(self, lease: Mapping[str, typing.Any], waited_seconds: float) -> None:
        if self._quiet:
            return
        text = f'Lease {lease["name"]}: {lease["status"]}'
        if lease.get('status_reason'):
            text += f' ({lease["status_reason"]})'
        if self._rewrites:
            line = f'{text}, {waited_seconds:.0f} s'
            self._stream.write('\r' + line.ljust(len(self._last)))
            self._last = line
        elif text != self._last:
            self._stream.write(text + '\n')
            self._last = text
        self._stream.flush()

    def __enter__(self) -> 'WaitProgress':
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._rewrites and self._last:
            self._stream.write('\n')
            self._stream.flush()


class LeaseCommand(base.ClientCommand):
    """A command about leases."""

    def add_wait(self, parser: argparse.ArgumentParser, help_text: str) -> None:
        parser.add_argument('--wait', action='store_true', help=help_text)
        self.add_timeout(parser)

    def add_timeout(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('--timeout', metavar='SECONDS', type=arguments.seconds, default=600.0,
                            help='Give up waiting after this time: 600, or 10m. Default: 600.')

    def wait(self, lease_id: str, statuses: str | Collection[str], timeout: float
             ) -> Mapping[str, typing.Any] | None:
        """Wait until a lease has a wanted status, and return it; progress goes to stderr."""
        quiet = getattr(self.app.options, 'verbose_level', 1) == 0
        try:
            with WaitProgress(self.app.stderr, quiet=quiet) as report:
                return self.client.leases.wait(lease_id, statuses, timeout=timeout, report=report)
        except KeyboardInterrupt:
            self.app.stderr.write(f'The wait was interrupted; lease {lease_id} goes on.\n')
            raise


class ShowLeaseCommand(LeaseCommand, base.ShowOne):
    """A command that shows a lease as its result; for people in sections."""

    # Empty if the result of the command is not a lease.
    _lease: Mapping[str, typing.Any] = {}
    _exists = True

    def shown(self, lease: Mapping[str, typing.Any], *, exists: bool = True) -> lease_view.Table:
        """Return the table of a lease; `exists` is False after a dry run."""
        self._lease, self._exists = lease, exists
        return lease_view.shown(lease, exists=exists)

    def produce_output(self, parsed_args: argparse.Namespace, column_names: Sequence[str],
                       data: Sequence[typing.Any]) -> int:
        if not self._lease or parsed_args.formatter != 'table' or parsed_args.columns or (
                base.is_sized(parsed_args)):
            return super().produce_output(parsed_args, column_names, data)
        cells = {name: '' if cell is None else str(table_width.text_of(cell))
                 for name, cell in zip(column_names, data, strict=True)}
        self.app.stdout.write(lease_sections.text(
            self._lease, cells, self._resources(), table_width.of_terminal(self.app.stdout)))
        return 0

    def _resources(self) -> Sequence[Mapping[str, typing.Any]]:
        """Return the resources of the lease, with their health; () if the service has no list."""
        if self._exists and any(each.get('resources') for each in self._lease['reservations']):
            with contextlib.suppress(errors.ClientError):
                return self.client.leases.resources(self._lease['id'])
        return ()

    def say_dry(self) -> None:
        """Write on stderr that the lease below is the result of a dry run."""
        self.app.stderr.write('Dry run: nothing was created or changed.\n')
