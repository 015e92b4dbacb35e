# SPDX-License-Identifier: Apache-2.0
"""Base classes of commands that take a lease as argument, or wait for one."""
import argparse
from collections.abc import Collection
from collections.abc import Mapping
import typing

from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import progress


class LeaseCommand(base.Command):
    """A command about leases."""

    def add_lease(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('lease', metavar='LEASE', help='Name or id of the lease.')

    def add_wait(self, parser: argparse.ArgumentParser, help_text: str) -> None:
        parser.add_argument('--wait', action='store_true', help=help_text)
        self.add_timeout(parser)

    def add_timeout(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument('--timeout', metavar='SECONDS', type=arguments.seconds, default=600.0,
                            help='Give up waiting after this time: 600, or 10m. Default: 600.')

    def wait(self, lease_id: str, wanted: str | Collection[str], timeout: float
             ) -> Mapping[str, typing.Any] | None:
        """Wait until a lease has a wanted status, and return it; progress goes to stderr."""
        quiet = getattr(self.app.options, 'verbose_level', 1) == 0
        try:
            with progress.Progress(self.app.stderr, quiet=quiet) as report:
                return self.client.leases.wait(lease_id, wanted, timeout=timeout, report=report)
        except KeyboardInterrupt:
            self.app.stderr.write(f'The wait was interrupted; lease {lease_id} goes on.\n')
            raise


class ShowLeaseCommand(LeaseCommand, base.ShowOne):
    """A command that shows a lease as its result."""

    def say_dry(self) -> None:
        """Say on stderr that the lease below was only tried."""
        self.app.stderr.write('Dry run: nothing was made or changed.\n')
