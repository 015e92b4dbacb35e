# SPDX-License-Identifier: Apache-2.0
"""Commands about leases."""
import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import shlex
import typing

from climate.client import errors
from climate.client import status_words
from climate.client import times
from climate.client.commands import acquire_arguments
from climate.client.commands import arguments
from climate.client.commands import base
from climate.client.commands import confirmation
from climate.client.commands import lease_filters
from climate.client.commands import lease_view
from climate.client.commands import new_lease
from climate.client.commands import reservation_arguments
from climate.client.commands import series_arguments
from climate.client.commands import series_view
from climate.client.commands import shifts
from climate.client.commands import waits

#: Changes by which no object is lost.
_HARMLESS = frozenset({'name', 'idle_exempt', 'before_end', 'while_free'})


class CreateLease(new_lease.NewLeaseCommand):
    """Reserve resources."""

    example = ("lease create demo --hosts 1-4 --require 'vcpus>=16' --require gpu=True "
               '--duration 2h --wait')

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('name', metavar='NAME', help='Name of the new lease.')
        reservation_arguments.add(parser)
        parser.add_argument('--offer', metavar='ID',
                            help='Take a held offer of the project, which sets the resources '
                                 'and the dates.')
        parser.add_argument('--like', metavar='LEASE',
                            help='Reserve the same as this lease, by name or id, even if it has '
                                 'ended. Default of the duration: that of this lease.')
        self.add_when(parser)
        acquire_arguments.add(parser)
        series_arguments.add(parser, required=False)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        # Invalid arguments are reported before the client logs in.
        if parsed_args.repeat is not None:
            return self._series(parsed_args)
        series_arguments.refuse_without_repeat(parsed_args)
        if parsed_args.offer is not None:
            _refuse_beside_offer(parsed_args)
            offer = self.client.offers.full_id(parsed_args.offer)
            return self.made(parsed_args, self.client.leases.create(
                parsed_args.name, offer=offer, **new_lease.beside(parsed_args)))
        reservations = (self._like(parsed_args) if parsed_args.like is not None else
                        reservation_arguments.from_args(parsed_args, '; or --like LEASE'))
        when = new_lease.when(parsed_args)
        acquire = acquire_arguments.from_args(parsed_args)
        return self.made(parsed_args, self.client.leases.create(
            parsed_args.name, reservations=reservations, acquire=acquire, **when))

    def _series(self, parsed_args: argparse.Namespace) -> typing.Any:
        """Create a series, and show it as "series create" does.

        :raises BadValue: an argument is for a single lease only.
        """
        for name in ('offer', 'before_end', 'idle_exempt', 'while_free', 'wait', 'acquire'):
            if getattr(parsed_args, name, None):
                raise errors.BadValue(f'--{name.replace("_", "-")} is for a single lease: leave it '
                                      'out, or --repeat.')
        reservations = (self._like(parsed_args) if parsed_args.like is not None else
                        reservation_arguments.from_args(parsed_args, '; or --like LEASE'))
        created = series_arguments.create(self.client.series, parsed_args, reservations)
        if parsed_args.dry_run:
            self.say_dry()
        return series_view.shown(created, exists=not parsed_args.dry_run)

    def _like(self, parsed_args: argparse.Namespace) -> Sequence[Mapping[str, typing.Any]]:
        """Return the reservations of the lease that --like names; also take its duration.

        :raises BadValue: other arguments say what to reserve, too.
        """
        if parsed_args.hosts or parsed_args.require or parsed_args.reservations:
            raise errors.BadValue('--like sets the resources: leave out --hosts, --require and '
                                  '--reservation, or --like.')
        request = self.client.leases.request(self.client.leases.find(parsed_args.like)['id'])
        if parsed_args.duration is None and parsed_args.end is None:
            parsed_args.duration = request['duration']
        reservations: Sequence[Mapping[str, typing.Any]] = request['reservations']
        return reservations


class ListLeases(base.Lister):
    """List leases: the newest first, and ended leases last."""

    example = 'lease list --resource compute-7 --from 2030-05-06 --to 2030-05-13'

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        lease_filters.add(parser)
        parser.add_argument('--long', action='store_true', help='Show more columns.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        leases, projects = lease_filters.found(self.client.leases, parsed_args)
        return lease_view.rows(leases, lease_view.Columns(
            long=parsed_args.long, narrow=self.is_narrow(parsed_args),
            named=bool(parsed_args.columns), idle=parsed_args.idle,
            dates=lease_filters.asks_who(parsed_args), projects=projects))

    def nothing(self, parsed_args: argparse.Namespace) -> str:
        if parsed_args.all_projects or parsed_args.project or parsed_args.resource:
            return super().nothing(parsed_args)
        return 'Nothing found in your project. Administrators find more with --all-projects.'


class ShowLease(waits.ShowLeaseCommand):
    """Show a lease, its reservations and events, and the time that remains."""

    parameters = (waits.LEASE,)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        return self.shown(self.client.leases.find(parsed_args.lease))


class ExplainLease(base.Lister, waits.LeaseCommand):
    """Show the history of a lease (what, who, why) and its current status."""

    parameters = (waits.LEASE,)

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease = self.client.leases.find(parsed_args.lease)
        return lease_view.history(self.client.leases.history(lease['id']), lease)


class SetLease(confirmation.ConfirmedCommand, waits.ShowLeaseCommand):
    """Change a lease."""

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--name', metavar='NEW_NAME', help='The new name.')
        start, end = (parser.add_mutually_exclusive_group() for _ in range(2))
        start.add_argument('--start', metavar='TIME', type=arguments.moment,
                           help=f'The new start: {new_lease.TIME_HELP}')
        end.add_argument('--end', metavar='TIME', type=arguments.moment,
                         help='The new end.')
        arguments.also_named(start, '--start-date', dest='start',
                             type=arguments.moment_in_utc)
        arguments.also_named(end, '--end-date', dest='end',
                             type=arguments.moment_in_utc)
        shifts.add({'start': start, 'end': end})
        parser.add_argument('--duration', metavar='SPAN', type=arguments.span,
                            help=f'The new duration: {times.SPAN_HELP}.')
        parser.add_argument('--before-end', metavar='TIME', type=arguments.moment,
                            help='The new time of the action before the end.')
        arguments.also_named(parser, '--before-end-date', dest='before_end',
                             type=arguments.moment_in_utc)
        parser.add_argument('--reservation', metavar='id=ID,KEY=VALUE,...', action='append',
                            type=arguments.changed_reservation, dest='reservations',
                            help='Change a reservation: id=RESERVATION_ID,max=3. Repeatable.')
        parser.add_argument('--idle-exempt', action=argparse.BooleanOptionalAction,
                            help='Never treat the lease as idle; for administrators.')
        steps = parser.add_mutually_exclusive_group()
        new_lease.add_while_free(steps)
        steps.add_argument('--no-while-free', action='store_const', const=0, dest='while_free',
                           help='Do not extend the lease in steps any more.')
        self.add_confirmation(parser, 'Only show the lease as it would be, and what is lost.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        changes = {name: value for name, value in vars(parsed_args).items()
                   if name in ('name', 'start', 'end', 'duration', 'before_end', 'reservations',
                               'idle_exempt', 'while_free')
                   and value is not None}
        if not changes and not shifts.given(parsed_args):
            raise errors.BadValue('Nothing to change: give --name, --start, --end, --duration, '
                                  '--before-end, --reservation, --while-free or --idle-exempt, '
                                  'such as --end "+2h".')
        lease = self.client.leases.find(parsed_args.lease)
        changes |= shifts.changes(parsed_args, lease)
        lease_id = lease['id']
        harmless = not parsed_args.dry_run and changes.keys() <= _HARMLESS
        goes_on = harmless or self.goes_on(
            parsed_args, lease, lambda: self.client.leases.lost_by_update(lease_id, **changes),
            f'Change lease {lease["name"]}?')
        return self.shown(self.client.leases.update(
            lease_id, dry_run=not goes_on, **changes))


class ExtendLease(waits.ShowLeaseCommand):
    """Extend a lease."""

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument('--by', metavar='SPAN', type=arguments.span,
                         help=f'Extend by this duration: {times.SPAN_HELP}.')
        how.add_argument('--to', metavar='TIME', type=arguments.moment,
                         help=f'The new end: {new_lease.TIME_HELP}')
        how.add_argument('--max', '--latest', action='store_true', dest='latest',
                         help='Extend as far as rules, limits and the bookings of others allow.')
        new_lease.add_while_free(how)
        how.add_argument('--show-latest', action='store_true',
                         help='Only show the latest possible end, and what prevents a later one.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease: Mapping[str, typing.Any] = self.client.leases.find(parsed_args.lease)
        lease_id = lease['id']
        if parsed_args.show_latest:
            return lease_view.latest_end(self.client.leases.latest_end(lease_id))
        if parsed_args.while_free is not None:
            return self.shown(self.client.leases.update(
                lease_id, while_free=parsed_args.while_free))
        if parsed_args.latest:
            found = self.client.leases.latest_end(lease_id)
            parsed_args.to = _latest(found, lease)
            lease = self.client.leases.extend(lease_id, to=parsed_args.to)
            self.app.stderr.write(f'Extended until {times.for_people(found["end"])}. What prevents '
                                  f'a later end: {found["reason"]}\n')
            return self.shown(lease)
        return self.shown(self.client.leases.extend(
            lease_id, by=parsed_args.by, to=parsed_args.to))


def _latest(found: Mapping[str, typing.Any], lease: Mapping[str, typing.Any]) -> str:
    """Return the latest end of a lease as text.

    :raises BadValue: no later end is possible now; or nothing limits the end within a year, so that
        the caller must choose one.
    """
    end = times.for_people(found['end'])
    if not found['limited']:
        raise errors.BadValue(
            f'Nothing limits the end of the lease: it can be extended until {end} at least. Choose '
            f'the end, such as: climate lease extend {shlex.quote(lease["name"])} --to "{end}"')
    now = times.utcnow()
    if times.moment(found['end'], now) <= times.moment(lease['end'], now):
        raise errors.BadValue(f'The lease cannot be extended now: {found["reason"]}')
    return typing.cast('str', found['end'])


class EndLease(confirmation.ConfirmedCommand, waits.ShowLeaseCommand):
    """End a lease now; its record stays."""

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        self.add_wait(parser, 'Wait until all resources are released.')
        self.add_confirmation(parser, 'Only show what would be lost.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease: Mapping[str, typing.Any] = self.client.leases.find(parsed_args.lease)
        lease_id = lease['id']
        if not self.goes_on(parsed_args, lease,
                            lambda: self.client.leases.lost_by_update(lease_id, end='now'),
                            f'End lease {lease["name"]} now?'):
            return self.shown(lease)
        lease = self.client.leases.end(lease_id)
        if parsed_args.wait:
            lease = self.wait(lease_id, 'terminated', parsed_args.timeout) or lease
        return self.shown(lease)


class GiveBackLease(confirmation.ConfirmedCommand, waits.ShowLeaseCommand):
    """Give a future lease, or hosts of it, back for leases that wait for resources."""

    example = 'lease give-back demo --hosts 2'

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('--hosts', metavar='COUNT', type=arguments.positive,
                            help='The number of hosts. Default: the whole lease.')
        self.add_confirmation(parser, 'Only show what it would cost.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease: Mapping[str, typing.Any] = self.client.leases.find(parsed_args.lease)
        lease_id, hosts = lease['id'], parsed_args.hosts
        if not self.goes_on(parsed_args, lease,
                            lambda: self.client.leases.lost_by_give_back(lease_id, hosts=hosts),
                            f'Give lease {lease["name"]} back?'):
            return self.shown(lease)
        return self.shown(self.client.leases.give_back(lease_id, hosts=hosts))


class SwapResource(confirmation.ConfirmedCommand, waits.ShowLeaseCommand):
    """Swap a broken host, or another resource, of a running lease for another one."""

    example = 'lease swap demo compute-17.example.org --wait'

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('resource', metavar='HOST',
                            help='Name or id of the host, or of another resource, of the lease.')
        parser.add_argument('--reservation', metavar='ID',
                            help='The reservation that has it, if several have it.')
        self.add_wait(parser, 'Wait until the new resource can be used.')
        self.add_confirmation(parser, 'Only show what would be lost.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> typing.Any:
        lease: Mapping[str, typing.Any] = self.client.leases.find(parsed_args.lease)
        lease_id = lease['id']
        if not self.goes_on(parsed_args, lease, lambda: self.client.leases.lost_by_swap(
                lease_id, parsed_args.resource, reservation=parsed_args.reservation),
                            f'Swap {parsed_args.resource} of lease {lease["name"]}?'):
            return self.shown(lease)
        lease = self.client.leases.swap(
            lease_id, parsed_args.resource, reservation=parsed_args.reservation)
        if parsed_args.wait:
            lease = self.wait(lease_id, 'active', parsed_args.timeout) or lease
        return self.shown(lease)


class DeleteLeases(base.Silent, confirmation.ConfirmedCommand):
    """Delete leases and release their resources."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument('leases', metavar='LEASE', nargs='+',
                            help='Name or id of a lease. Repeatable.')
        self.add_wait(parser, 'Wait until all resources are released.')
        self.add_confirmation(parser, 'Only show what would be lost.')
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        def delete(name: str) -> None:
            lease = self.client.leases.find(name)
            lease_id = lease['id']
            if not self.goes_on(parsed_args, lease,
                                lambda: self.client.leases.lost_by_delete(lease_id),
                                f'Delete lease {lease["name"]}?'):
                return
            self.client.leases.delete(lease_id)
            if parsed_args.wait:
                self.wait(lease_id, 'deleted', parsed_args.timeout)

        self.for_each(parsed_args.leases, 'lease', delete)


class WaitLease(base.Silent, waits.LeaseCommand):
    """Wait until a lease has a status; fail if it cannot reach the status."""

    parameters = (waits.LEASE,)

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        known = (*status_words.LEASE, status_words.DELETED)
        parser.add_argument('--status', choices=known, default='active', metavar='STATUS',
                            type=str.lower,
                            help=f'The status: {", ".join(known)}. Default: active.')
        self.add_timeout(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> None:
        lease_id = self.client.leases.find(parsed_args.lease)['id']
        self.wait(lease_id, parsed_args.status, parsed_args.timeout)


def _refuse_beside_offer(parsed_args: argparse.Namespace) -> None:
    given = {'--hosts': parsed_args.hosts, '--require': parsed_args.require,
             '--reservation': parsed_args.reservations, '--start': parsed_args.start,
             '--end': parsed_args.end, '--duration': parsed_args.duration,
             '--like': parsed_args.like,
             '--acquire': acquire_arguments.from_args(parsed_args)}
    conflicting = [name for name, value in given.items() if value]
    if conflicting:
        raise errors.BadValue('--offer sets the resources and the dates: leave out '
                              f'{", ".join(conflicting)}, or --offer.')
