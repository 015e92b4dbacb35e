# SPDX-License-Identifier: Apache-2.0
"""Render records in responses, by REST version."""
import dataclasses
import functools

from climate import moments
from climate.api import owner_or_operator_text
from climate.api import price_view
from climate.api import rest_1_0
from climate.api import share_view
from climate.api import sub_lease_view
from climate.api import times
from climate.domain import acquire
from climate.domain import event_kinds
from climate.domain import lease_1_0
from climate.domain import lease_actions
from climate.domain import lifecycle
from climate.domain import records
from climate.domain import shares
from climate.domain import status_words
from climate.domain.clearing import plans


@dataclasses.dataclass(frozen=True)
class Permissions:
    """The parts of a lease that a caller may read in addition to those of its owner.

    :ivar moves: the servers of other projects that are moved for the lease, and their hosts.
    :ivar texts: the operators' version of texts.
    :ivar actions: the ``lease_actions`` that policy allows.
    :ivar names: the names of the owner and of the project.
    :ivar share: the Share by which the caller sees the lease, or None.
    :ivar is_receiver: whether the caller sees the lease only by a share, so that the private data
        of the owner are hidden.
    """

    moves: bool = False
    texts: bool = False
    actions: tuple = ()
    names: bool = False
    share: shares.Share | None = None
    is_receiver: bool = False


class Views:
    """Renders leases and reservations.

    :param plugins: {resource type: plugin class}; a plugin renders the fields of its type.
    """

    def __init__(self, plugins):
        self._plugins = plugins

    def lease(self, lease, lenient, now, permissions=Permissions()):
        """Render a Lease, for REST 1.0 (`lenient`) or from 1.1 on.

        :param permissions: the Permissions of the caller.
        """
        return (self._lease_1_0(lease) if lenient
                else self._lease_1_1(lease, now, permissions))

    def reservation(self, reservation):
        """Render a Reservation, from REST 1.1 on."""
        return {
            **self._own_fields(reservation, 'fields'),
            'id': reservation.id, 'resource_type': reservation.resource_type,
            'status': reservation.state, 'missing_resources': reservation.missing_resources,
            'resources_changed': reservation.resources_changed,
            'resources': [str(each) for each in reservation.resource_ids],
            **_order_fields(reservation),
        }

    def _lease_1_0(self, lease):
        view = lease_1_0.lease(lease, status_words.word_1_0(lease.state, lease.task),
                               functools.partial(self._own_fields, form='shown'))
        return {**view, 'reservations': [
            {**reservation, 'resource_type': rest_1_0.shown_type(reservation['resource_type'])}
            for reservation in view['reservations']]}

    def _lease_1_1(self, lease, now, permissions):
        _, status = status_words.words(lease.state, lease.task, lease.start, now)
        if lease.deleted_at is not None:
            status = status_words.DELETED
        return {
            'id': lease.id, 'name': lease.name, 'user_id': lease.user_id,
            'user_name': lease.user_name if permissions.names else None,
            'project_id': lease.project_id,
            'project_name': lease.project_name if permissions.names else None,
            'status': status,
            'status_reason': owner_or_operator_text.of(lease.reason_text, permissions.texts),
            'actions': [action for action in lease_actions.possible(lease, now)
                        if action in permissions.actions],
            'degraded': lease.degraded,
            'has_trust': None if permissions.is_receiver else lease.trust_id is not None,
            **share_view.of_lease(lease, permissions.share, permissions.is_receiver, now),
            **sub_lease_view.of_lease(lease, permissions.is_receiver, now),
            'start': times.shown(lease.start),
            'end': times.shown(lease.end), 'before_end': times.shown(lease.before_end),
            'created_at': times.shown(lease.created_at),
            'updated_at': times.shown(lease.updated_at),
            'started_at': times.shown(lease.started_at),
            'ended_at': times.shown(lease.ended_at), 'deleted_at': times.shown(lease.deleted_at),
            'idle_exempt': lease.idle_exempt, **_idle(lease),
            'while_free': lease.while_free_seconds, 'extended_count': lease.extended_count,
            'series_id': lease.series_id,
            'acquire': _acquire(lease, permissions.moves),
            'reservations': [self.reservation(each) for each in lease.reservations],
            'events': [{'id': event.id, 'type': event.kind, 'time': times.shown(event.at),
                        'status': event.status.lower()}
                       for event in lease.events
                       if event.kind in event_kinds.SHOWN and not _never_came(event, lease, now)],
            **price_view.price(None if permissions.is_receiver else lease.price),
        }

    def _own_fields(self, reservation, form):
        """Render the fields of the type with the plugin's method `form`: 'shown' or 'fields'."""
        plugin = self._plugins.get(reservation.resource_type)
        # If the type is disabled, the fields are shown as they are stored.
        if plugin:
            return getattr(plugin, form)(reservation)
        return {name: value for name, value in {
            **reservation.request, **reservation.binding}.items()
            if name not in records.HIDDEN_IN_BINDING}


def _never_came(event, lease, now):
    """Return whether an event was closed because the lease was over before its time."""
    if event.status != lifecycle.EVENT_DONE:
        return False
    # `now` is not compared for running leases, because the clock of the manager may be ahead.
    ends = (lease.end, lease.ended_at, lease.deleted_at, now if lease.task == 'delete' else None)
    return event.at > min(moment for moment in ends if moment is not None)


def _order_fields(reservation):
    """Render the label and the order of a reservation; {} if it has neither."""
    if not (reservation.label or reservation.depends_on):
        return {}
    return {'label': reservation.label or None, 'depends_on': list(reservation.depends_on or ())}


def _idle(lease):
    """Render since when a running lease is idle, and when it will be reclaimed."""
    runs = lease.state == lifecycle.ACTIVE
    return {'idle_since': times.shown(lease.idle_since if runs else None),
            'reclaim_at': times.shown(lease.reclaim_at if runs else None)}


def _acquire(lease, names):
    """Render the acquisition of a lease: its type, and the fields of this type.

    :param names: whether to name moved servers and their hosts.
    """
    view, acquisition = {'type': lease.acquire_type}, lease.acquisition
    if acquisition is None:
        return view
    # A lease whose acquisition is over has no next attempt and no deadline.
    goes_on = lease.state == lifecycle.ACQUIRING and lease.task is None
    view |= {name: getattr(acquisition, name) for name in acquire.FIELDS[acquisition.type]}
    if acquisition.type in acquire.QUEUED:
        view |= {'attempts': acquisition.attempts,
                 'next_at': times.shown(acquisition.next_at) if goes_on else None}
    if acquisition.type != acquire.RETRIES:
        view['not_after'] = times.shown(acquisition.not_after) if goes_on else None
    if acquisition.type == acquire.BEST_EFFORT:
        view['plan'] = acquisition.plan and _plan(plans.from_json(acquisition.plan), names)
    return view


def _plan(plan, names):
    """Render a clearing plan: the number of servers, and of moved servers, on each host."""
    return {'strategy': plan.strategy, 'hosts': [
        {'reservation_id': host.reservation_id, 'state': host.state, 'servers': len(host.moves),
         'moved': sum(move.state == plans.MOVED for move in host.moves),
         **(_named(host) if names else {})} for host in plan.hosts]}


def _named(host):
    """Render the names of a cleared host and its servers, which need a policy permission."""
    return {'host': host.name, 'why': host.why, 'moves': [
        {'server_id': move.server_id, 'from': move.source, 'to': move.target,
         'state': move.state} for move in host.moves]}


def history(entries, permissions):
    """Render the history of a lease, from REST 1.1 on; `permissions` as in `Views.lease`."""
    return [{'id': str(entry.id), 'at': times.shown(entry.at), 'who': entry.who, 'what': entry.what,
             'why': _why(entry, permissions)} for entry in entries]


def _why(entry, permissions):
    if entry.what in plans.NAMING and not permissions.moves:
        return None
    return owner_or_operator_text.of(entry.text, permissions.texts)


def property_in_list(prop, detail, lenient):
    """Render a Property in a list."""
    if not detail:
        return {'property': prop.name}
    view = {'property': prop.name, 'private': prop.private, 'values': list(prop.values)}
    # Clients of Chameleon read this key.
    return {**view, 'is_unique': False} if lenient else view


def allocation(resource_id, bookings, lenient, lease_of):
    """Render the allocations of a resource.

    :param resource_id: the id as text.
    :param lease_of: a function that returns the fields about the lease of an Allocation, from
        REST 1.1 on.
    """
    show = moments.exactly if lenient else times.shown
    names = ('start_date', 'end_date') if lenient else ('start', 'end')
    reservations = []
    for booking in bookings:
        shown = {'id': booking.reservation_id, 'lease_id': booking.lease_id,
                 names[0]: show(booking.start), names[1]: show(booking.end)}
        # REST 1.0 has an element for each copy. All elements of an allocation are the same object.
        reservations += [shown] * booking.copies if lenient else [
            {**shown, 'count': booking.copies, **lease_of(booking)}]
    return {'resource_id': resource_id, 'reservations': reservations}


def calendar_span(span):
    """Render a CalendarSpan, from REST 1.1 on."""
    return {'start': times.shown(span.start), 'end': times.shown(span.end),
            'free': span.free, 'total': span.total}


def offer(record):
    """Render an Offer, from REST 1.1 on."""
    return {'id': record.id, 'start': times.shown(record.start), 'end': times.shown(record.end),
            'held_until': times.shown(record.held_until),
            'created_at': times.shown(record.created_at),
            'reservations': [{**each.request, 'resource_type': each.resource_type,
                              **_order_fields(each)}
                             for each in record.request],
            **price_view.price(record.price)}


def usability(record):
    """Render a Usability for Nova's scheduler."""
    return {'id': record.id, 'lease_id': record.lease_id, 'project_id': record.project_id,
            'active': record.active, 'usable': record.usable, 'reason': record.reason,
            'ordinary': record.ordinary, 'server_id': record.server_id,
            'room': None if record.capacity is None else dict(record.capacity),
            'hosts': list(record.hosts), 'service_hosts': list(record.service_hosts)}


def service(manager):
    """Render a Service, from REST 1.1 on."""
    return {'id': manager.id, 'binary': 'climate-manager', 'host': manager.host,
            'state': 'up' if manager.up else 'down', 'since': times.shown(manager.since),
            'last_seen': times.shown(manager.last_seen), 'running_events': manager.running,
            'not_ready': manager.not_ready}


def stamps_1_1(record):
    """Render created_at and updated_at from REST 1.1 on."""
    return {'created_at': times.shown(record.created_at),
            'updated_at': times.shown(record.updated_at)}
