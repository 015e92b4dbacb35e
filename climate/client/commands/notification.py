# SPDX-License-Identifier: Apache-2.0
"""Commands about subscriptions to notifications."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import itertools
import typing

from climate.client import errors
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import columns

_NARROW = ('id', 'transport', 'address', 'scope', 'enabled')
_NAMES = (*_NARROW, 'name', 'events', 'before_end', 'reason', 'user_id', 'project_id')
_LOG = ('at', 'kind', 'lease_id', 'state', 'attempts', 'reason')
# In a table for people, --long has the lease.
_NARROW_LOG = ('at', 'kind', 'state', 'attempts', 'reason')
_TIMES = ('at', 'created_at', 'updated_at', 'next_at', 'done_at')
_HELP = 'Id of the subscription; "notification list" has the ids.'
_SUBSCRIPTION = ('subscription', {'metavar': 'SUBSCRIPTION', 'help': _HELP})


class SubscriptionCommand(base.ClientCommand):
    """A command about one subscription."""

    parameters: Sequence[tuple[str, dict[str, typing.Any]]] = (_SUBSCRIPTION,)

    def _id(self, parsed_args: argparse.Namespace) -> str:
        return self.client.subscriptions.full_id(parsed_args.subscription)


def _add_fields(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--event', metavar='KIND', action='append', dest='events',
                        help='Notify of events of this kind, such as start, end or error. The '
                             'error about an unknown kind lists all kinds. Repeatable.')
    parser.add_argument('--before-end', metavar='DURATION', action='append', dest='before_end',
                        help='Notify this long before the end of each lease, such as 1d or 1h. '
                             'Repeatable.')
    parser.add_argument('--name', metavar='NAME', help='The name of the subscription.')


def _fields(parsed_args: argparse.Namespace, *names: str) -> dict[str, typing.Any]:
    return {name: getattr(parsed_args, name) for name in names
            if getattr(parsed_args, name) is not None}


class ListSubscriptions(base.Lister):
    """List the subscriptions to notifications."""

    parameters = (('--all-projects', {
        'action': 'store_true', 'help': 'Subscriptions of all users and projects '
                                        '(administrators).'}), base.LONG)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        names = _NARROW if self.is_narrow(parsed_args) else _NAMES
        subscriptions = self.client.subscriptions.list(all_projects=parsed_args.all_projects)
        return names, [_row(names, subscription) for subscription in subscriptions]


class ShowSubscription(SubscriptionCommand, base.ShowOne):
    """Show a subscription."""

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return _shown(self.client.subscriptions.get(self._id(parsed_args)))


class Subscribe(base.ShowOne):
    """Subscribe to notifications by mail, webhook or calendar."""

    example = 'notification subscribe --mail ann@example.org --before-end 1d --before-end 1h'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument('--mail', metavar='ADDRESS', help='Send mail to this address.')
        how.add_argument('--webhook', metavar='URL', help='Post to this https:// address.')
        how.add_argument('--calendar', action='store_true',
                         help='Create a secret address for a calendar program.')
        parser.add_argument('--project', action='store_const', const='project', dest='scope',
                            help='Notify of all leases of the project, not only of your own.')
        _add_fields(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        transport = 'calendar' if parsed_args.calendar else (
            'mail' if parsed_args.mail is not None else 'webhook')
        address = parsed_args.mail if transport == 'mail' else parsed_args.webhook
        fields = _fields(parsed_args, 'scope', 'events', 'before_end', 'name')
        if address is not None:
            fields['address'] = address
        return _shown(self.client.subscriptions.create(transport, **fields))


class SetSubscription(SubscriptionCommand, base.ShowOne):
    """Change a subscription, switch it on or off, or renew its secret."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--address', metavar='ADDRESS', help='The new address.')
        _add_fields(parser)
        switch = parser.add_mutually_exclusive_group()
        switch.add_argument('--enable', action='store_const', const=True, dest='enabled',
                            help='Switch it on again.')
        switch.add_argument('--disable', action='store_const', const=False, dest='enabled',
                            help='Switch it off.')
        parser.add_argument('--renew-secret', action='store_const', const=True,
                            help='Create a new secret, or a new address of a calendar.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        fields = _fields(parsed_args, 'address', 'events', 'before_end', 'name', 'enabled',
                         'renew_secret')
        if not fields:
            raise errors.BadValue('Nothing to change: give an option (see --help).')
        return _shown(self.client.subscriptions.update(self._id(parsed_args), **fields))


class Unsubscribe(base.Silent):
    """Delete subscriptions with their logs."""

    parameters = (('subscriptions', {
        'metavar': 'SUBSCRIPTION', 'nargs': '+', 'help': f'{_HELP} Repeatable.'}),)

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        subscriptions = self.client.subscriptions
        self.for_each(parsed_args.subscriptions, 'subscription',
                      lambda text: subscriptions.delete(subscriptions.full_id(text)))


class TestSubscription(SubscriptionCommand, base.Silent):
    """Send a test notification; "notification log" shows the result."""

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        self.client.subscriptions.test(self._id(parsed_args))


class ShowLog(SubscriptionCommand, base.Lister):
    """List the deliveries to a subscription, the newest first."""

    parameters = (_SUBSCRIPTION, ('--limit', {
        'metavar': 'COUNT', 'type': arguments.positive, 'default': 50,
        'help': 'The maximum number of entries. Default: 50.'}), base.LONG)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        entries = itertools.islice(self.client.subscriptions.log(self._id(parsed_args)),
                                   max(parsed_args.limit, 0))
        names = _NARROW_LOG if self.is_narrow(parsed_args) else _LOG
        return names, [_row(names, entry) for entry in entries]


def _shown(subscription: Mapping[str, typing.Any]) -> typing.Any:
    return list(subscription), [_cell(name, value) for name, value in subscription.items()]


def _row(names: Sequence[str], record: Mapping[str, typing.Any]) -> tuple[typing.Any, ...]:
    """Return the cells of an object in a table."""
    return tuple(_cell(name, record.get(name)) for name in names)


def _cell(name: str, value: typing.Any) -> typing.Any:
    if name in _TIMES:
        return columns.Time(value)
    return columns.Lines(value) if isinstance(value, list) else value
