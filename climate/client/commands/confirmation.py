# SPDX-License-Identifier: Apache-2.0
"""The question before a command deletes or stops objects of the cloud, or costs money."""
import argparse
from collections.abc import Callable
from collections.abc import Mapping
import typing

from climate.client import errors
from climate.client import leases
from climate.client import status_words
from climate.client import times
from climate.client.commands import waits

#: Leases with these statuses have nothing that their owner could lose.
_WITH_NOTHING = frozenset({status_words.ACQUIRING, *status_words.PAST})
_YES = frozenset({'y', 'yes'})
# A list for people names at most this number of objects.
_MOST_NAMED = 50
_Losses = leases.Losses


class ConfirmedCommand(waits.LeaseCommand):
    """A command about leases that asks before objects are lost or a late cancellation costs."""

    def add_confirmation(self, parser: argparse.ArgumentParser, dry_run: str | None = None) -> None:
        """Add --yes and, with its help, --dry-run."""
        parser.add_argument('-y', '--yes', action='store_true',
                            help='Do not ask, even if servers or other objects are lost. Without '
                                 'a terminal and without --yes, such a command is refused.')
        if dry_run is not None:
            parser.add_argument('--dry-run', action='store_true', help=dry_run)

    def goes_on(self, parsed_args: argparse.Namespace, lease: Mapping[str, typing.Any],
                read: Callable[[], _Losses | None], question: str) -> bool:
        """List what would be lost, and ask; return False for a dry run.

        :param read: returns the losses, from a dry run of the service.
        :param question: such as "Delete lease demo?".
        :raises NotConfirmed: the user refuses, or there is no terminal to ask.
        """
        dry = getattr(parsed_args, 'dry_run', False)
        if parsed_args.yes and not dry:
            return True
        losses = _Losses(()) if lease['status'] in _WITH_NOTHING else _read(read)
        text = _warning(lease, losses)
        self.app.stderr.write(text)
        if dry:
            self.app.stderr.write('' if text else f'Lease {lease["name"]} loses nothing.\n')
            self.app.stderr.write('Dry run: nothing was created or changed.\n')
            return False
        if text:
            self._ask(question)
        return True

    def _ask(self, question: str) -> None:
        # A question that goes into a file would wait for an answer that nobody knows of.
        if not all(stream and stream.isatty() for stream in (self.app.stdin, self.app.stderr)):
            raise errors.NotConfirmed('Nothing was changed. Give --yes to go on without a '
                                      'question.')
        self.app.stderr.write(f'{question} [y/N] ')
        self.app.stderr.flush()
        if self.app.stdin.readline().strip().lower() not in _YES:
            raise errors.NotConfirmed('Nothing was changed.')


def _read(read: Callable[[], _Losses | None]) -> _Losses:
    try:
        losses = read()
    except errors.ServerError as error:
        raise errors.NotConfirmed(
            f'What would be lost is not known: {error.message} Nothing was changed. Give --yes '
            'to go on without the list.') from error
    if losses is None:
        raise errors.NotConfirmed('What would be lost is not known, because a manager of an '
                                  'earlier release answered. Nothing was changed. Give --yes to '
                                  'go on without the list.')
    return losses


def _warning(lease: Mapping[str, typing.Any], losses: _Losses) -> str:
    """Return what a request loses and costs, in lines; '' if it loses and costs nothing."""
    text = f'{_headline(lease, losses)}\n{_listed(losses)}' if losses else ''
    price = losses.late_cancel
    if price is None:
        return text
    percent = ', '.join(f'{line["percent"]} %' for line in price['lines'])
    return (f'{text}Lease {lease["name"]} starts soon. This costs {price["amount"]} '
            f'{price["currency"]}: {percent} of the price of what is cancelled.\n')


def _headline(lease: Mapping[str, typing.Any], losses: _Losses) -> str:
    moments = sorted({loss['at'] for loss in losses if loss['at']})
    at = f' at {times.for_people(moments[0])}' if len(moments) == 1 else ''
    objects = '1 object is' if len(losses) == 1 else f'{len(losses)} objects are'
    return f'With this, {objects} lost in lease {lease["name"]}{at}:'


def _listed(losses: _Losses) -> str:
    lines = [f'  {line(loss)}\n' for loss in losses[:_MOST_NAMED]]
    more = len(losses) - len(lines)
    return ''.join(lines) + (f'  and {more} more\n' if more else '')


def line(loss: Mapping[str, typing.Any]) -> str:
    """Return an object and what happens to it, as text."""
    if loss['id'] is None:
        called = f'a {loss["kind"]} of another project'
    else:
        called = f'{loss["kind"]} {loss["name"]} ({loss["id"]})' if loss['name'] else (
            f'{loss["kind"]} {loss["id"]}')
    where = f' on {loss["resource"]}' if loss['resource'] else ''
    first = ', after an image of it is made' if loss['saved'] else ''
    return f'{called}{where}: {loss["fate"]}{first}'
