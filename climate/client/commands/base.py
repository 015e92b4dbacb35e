# SPDX-License-Identifier: Apache-2.0
"""What all commands share, under ``climate`` and under ``openstack``."""
from collections.abc import Callable
from collections.abc import Iterable
import typing

from cliff import command
from cliff import lister
from cliff import show

from climate.client import errors

if typing.TYPE_CHECKING:
    from climate.client import service


class Command(command.Command):
    """A command of ours; ``example`` is shown at the end of its help."""

    app: typing.Any
    auth_required = True
    example = ''

    @property
    def client(self) -> 'service.Client':
        """The client, from whichever program runs the command; it logs in when first used."""
        return typing.cast('service.Client', self.app.client_manager.climate)

    def get_epilog(self) -> str:
        # cliff's own names the distribution of a command, for which it reads the metadata of
        # every one that is installed: 0.2 seconds.
        return f'Example: {self.example}' if self.example else ''

    def for_each(self, names: Iterable[str], what: str, action: Callable[[str], None]) -> None:
        """Do `action` with every name, also after one failed.

        :raises ClientError: some failed; each was reported by itself.
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
            raise errors.ClientError(f'{failed} of {len(all_names)} {what}s failed.')


class Lister(Command, lister.Lister):
    """A command that prints a list."""


class ShowOne(Command, show.ShowOne):
    """A command that prints one object."""


class Silent(Command):
    """A command that prints nothing when all went well."""
