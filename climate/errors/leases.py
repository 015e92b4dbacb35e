# SPDX-License-Identifier: Apache-2.0
"""Errors of leases, reservations, targets and offers."""
from typing import Any

from climate.errors import base


class BadPeriod(base.BadRequest):
    # Existing clients look for the first sentence.
    code = 'bad_period'
    template = ('End date must be later than start date. end: {end} UTC is not after the start, '
                '{start} UTC.')


class ReservedFlavor(base.BadField):
    code = 'reserved_flavor'


class TrustRefused(base.Forbidden):
    code = 'trust_refused'
    template = ('Climate needs a Keystone trust to act for you while the lease lasts, and Keystone '
                'refused to make one from this token: {reason} Use a token from a password or '
                'another login that may delegate, not an application credential.')
    owner_template = (
        'Climate needs a Keystone trust to act for you while the lease lasts, and Keystone refused '
        'to make one from this token. Use a token from a password or another login that may '
        'delegate, not an application credential.')
    operators_details = frozenset({'reason'})


class ActsForLease(base.Forbidden):
    code = 'acts_for_lease'
    template = ('This token belongs to a lease: objects that are created with it belong to that '
                'lease and get no lease of their own.')


class LeaseNotFound(base.NotFound):
    code = 'lease_not_found'
    template = 'Lease {lease_id} was not found.'


class ReservationNotFound(base.NotFound):
    code = 'reservation_not_found'
    template = 'Reservation {reservation_id} was not found.'


class TargetGone(base.BeginsWithNoun, base.NotFound):
    """The target of a reservation is not in the cloud. ``details``: ``kind``, ``target_id``."""

    code = 'target_gone'
    template = '{kind} {target_id} was not found.'


class ShareNotFound(base.NotFound):
    code = 'share_not_found'
    template = ('Share {share_id} of lease {lease_id} was not found: it was withdrawn, or it '
                'ended. List the shares of the lease.')


class AlreadyShared(base.Conflict):
    code = 'already_shared'
    template = ('Lease {lease_id} is shared with {receiver} already, as {role}: withdraw share '
                '{share_id} first to change it.')


class ShareRefused(base.Conflict):
    code = 'share_refused'
    template = 'Lease {lease_id} is over, or is being deleted, so it cannot be shared.'


class TooManyShares(base.Conflict):
    code = 'too_many_shares'
    template = ('Lease {lease_id} has {most} open shares, the maximum: withdraw one, or share it '
                'with a project instead of its users.')


class GiveBackRefused(base.Conflict):
    code = 'give_back_refused'
    template = ('Lease {lease_id} has begun, has no resources yet, is a sub-lease or has some: '
                'only other future leases can be returned. End or delete it instead.')


class TransferNotFound(base.NotFound):
    code = 'transfer_not_found'
    template = ('Transfer {transfer_id} was not found: it does not exist, it is for another '
                'project, or the key is wrong. Ask the owner of the lease for the id and the key.')


class AlreadyOffered(base.Conflict):
    code = 'already_offered'
    template = ('Lease {lease_id} is offered to {receiver} already: withdraw transfer '
                '{transfer_id} first.')


class TransferRefused(base.Conflict):
    code = 'transfer_refused'
    template = 'Lease {lease_id} cannot be transferred: {reason}.'


class TransferClosed(base.Conflict):
    code = 'transfer_closed'
    template = ('Transfer {transfer_id} is {status}, so it cannot be {action} any more. Ask the '
                'owner of the lease for another offer.')


class SubLeaseRefused(base.Conflict):
    """``details``: ``until``, the latest end that is possible, if another end is the reason."""

    code = 'sub_lease_refused'
    template = '{reason}'


class SubLeasesOpen(base.Conflict):
    """``details``: ``ids`` of the sub-leases."""

    code = 'sub_leases_open'
    template = ('Lease {lease_id} cannot {task}, because it has sub-leases: {sub_leases}. End or '
                'delete them first.')


class OfferNotFound(base.NotFound):
    code = 'offer_not_found'
    template = ('Offer {offer_id} was not found: it was taken or released, or belongs to another '
                'project. Ask for availability again.')


class BadTransition(base.Conflict):
    code = 'bad_transition'
    template = 'Lease {lease_id} is {status}: it cannot {task} now. Try again in a moment.'


class LeaseEnded(base.Conflict):
    # Existing clients expect 400, although this is a conflict with the state of the lease.
    status = 400
    code = 'lease_ended'
    template = 'Lease {lease_id} is past its end: it can only be renamed or deleted.'


class NotEnough(base.Conflict):
    """Too few resources are free.

    ``details``: ``wanted`` and ``free`` (counts), ``criteria`` ([{"criterion": text, "met_by":
    count}], each condition alone), ``matching`` (the number of resources that meet all conditions),
    ``nearest`` (the earliest later start at which the request fits, as ISO text, or None). The
    details of a best-effort request are ``wanted``, ``free``, ``reasons`` ({host: why it cannot be
    cleared}, if policy allows the caller to read them) and ``own_servers`` (ids of servers of the
    caller's project on hosts that could be cleared).
    """

    code = 'not_enough'
    operators_details = frozenset({'reasons'})
    template = 'Not enough {what} are free: {wanted} asked for, {free} free.'


class LostRace(base.Conflict):
    code = 'lost_race'
    template = 'Other requests booked the same resources at the same time. Try again.'


class OfferExpired(base.Conflict):
    code = 'offer_expired'
    template = 'Offer {offer_id} {reason}. Ask for availability again.'


class TooManyOffers(base.LimitReached):
    code = 'too_many_offers'
    limit = 'offers_per_project'
    template = ('Your project holds {most} offers, the maximum at a time: take one, release one, '
                'or wait until {until}.')


class LimitExceeded(base.LimitReached):
    """A limit of the limit book, or of Keystone, does not allow the request.

    ``details``: ``limit`` (its name), ``measure``, ``most`` or ``least``, ``used``, ``remaining``,
    ``until`` (the moment from which less is used, as ISO text, or None) and ``would_fit`` (what the
    limit allows instead: {"start", "end", "resources"}, with those that are known). Durations are
    in seconds. ``limits`` has the same details of each limit that the request exceeds. ``never`` is
    True if the request alone exceeds a limit, so that waiting does not help.

    :ivar refused: the ``limits.fitting.Refused`` that the manager checked; None outside it.
    """

    status = 403
    code = 'limit_exceeded'
    refused: Any = None


class ExtensionRefused(base.Conflict):
    """A rule of extensions in the limit book does not allow the new end of a running lease.

    ``details``: ``rule`` (its name), ``reason``, ``possible_end`` (the latest end that is possible
    now, as ISO text; None: the lease cannot be extended now) and ``opens_at`` (the moment from
    which the rule allows extensions, as ISO text; None: it does now, or it never will).
    """

    status = 403
    code = 'extension_refused'
    template = 'The rule "{rule}" does not allow this end: {reason}'


class TooManyRequestBytes(base.LimitReached):
    code = 'too_many_request_bytes'
    limit = 'request_bytes_per_project'
    template = ('This request needs {more} bytes in the database. The leases and offers of your '
                'project have {used} of at most {most} bytes (request_bytes_per_project): '
                'delete those that you do not need, or ask your operator. A lease that is over '
                'counts for one more day.')


class TooManySwaps(base.Conflict):
    code = 'too_many_swaps'
    template = ('Your project may swap at most {most} resources that seem to work within {minutes} '
                'minutes. Ask your operator to check this one{after}.')


class TooManyWaiting(base.LimitReached):
    code = 'too_many_waiting'
    limit = 'waiting_per_project'
    template = ('Your project has {count} leases in the wait queue, the maximum is {most}: delete '
                'one, or wait until one is served.')


class TargetLeased(base.BeginsWithNoun, base.Conflict):
    """``details``: ``kind``, ``target_id``, ``lease_id``, ``lease_name``, ``reservation_id``."""

    code = 'target_leased'
    template = ('{kind} {target_id} is leased already, by lease "{lease_name}" ({lease_id}, '
                'reservation {reservation_id}): change that lease, or end it first.')
