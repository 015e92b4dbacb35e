# SPDX-License-Identifier: Apache-2.0
"""All errors that Climate raises itself, as one tree.

::

    ClimateError                     500
      BadRequest                     400   the request itself is wrong
        BadField                           one field of the body or of the query
        BadDate                            a moment that cannot be parsed or used
        MissingFields                      required fields that are absent
        UnknownResourceType                no enabled plugin has the type
        MalformedRequirement               criteria that cannot be parsed
        UnknownProperty                    criteria with a property that no resource has
        BadPeriod                          an end that is not after the start
        PropertyNameTooLong
      NotAuthenticated               401
      Forbidden                      403   policy says no
        TrustRefused                       the caller cannot delegate to Climate
      NotFound                       404
        LeaseNotFound ReservationNotFound OfferNotFound PropertyNotFound UnknownPool
        PriceBookNotFound StatementNotFound
        SubscriptionNotFound CalendarNotFound
        MaintenanceNotFound                there is none, or it is over
        ResourceNotFound                   neither enrolled nor known to the cloud
        TargetGone                         the target that a reservation leases does not exist
      NotAcceptable                  406   a REST version that is not served
      Conflict                       409   a valid request that the current state does not allow
        BadTransition                      the state of the lease does not allow it
        LeaseEnded                   400   the lease is past its end: it can only be renamed
        NotEnough                          too few resources are free
        LostRace                           another request booked first (the manager retries)
        OfferExpired                       the offer is over, or its resources failed
        LimitReached                       a limit or a quota of the project
          TooManyOffers TooManyOwnSubscriptions TooManyRequestBytes TooManySubscriptions
          TooManyWaiting
        PriceBookOverlaps                  another version is valid from the same moment
        SubscriptionOff                    nothing is sent to it
        TooManySwaps                       of resources that seem to work
        ResourceInUse ResourceKnown ResourceAmbiguous PropertyInUse TargetLeased
      StalePrecondition              412   If-Match names an older version
      BodyTooLarge                   413
      UnsupportedMediaType           400
      KeyReused                      422   one Idempotency-Key, two bodies
      TooManyRequests                429   too many requests of one project: try again later
      TestedTooOften                 429   a test of a subscription just after another one
      Overloaded                     503   too many requests: try again later
        PlansBusy
        NoManager                          no manager has started yet
        DatabaseUnreachable                the database does not answer
          DatabaseRefuses                  it refuses the login, is full, or is read-only
      ManagerNotReady                503   a manager that just started checks its access
      ManagerSilent                  504   no response in time; the work may go on
      CloudError                     502   another service of the cloud failed
        TrustDead StillBusy ResourcesRefused
        CloudUnreachable         503   it is down or busy: try again later

A class has ``status`` (HTTP), ``code`` (stable, for programs) and ``template``. The keyword
arguments of an error fill its template and become its ``details``. No class is specific to one
pool or one kind of target; ``climate.api.error_names`` has the codes for hosts and servers that
existing clients know.

An error has two messages: ``message`` for operators, and ``owner_message`` for the owner of a
lease, without names of hosts, ids of other projects, addresses and words of other services.
"""
from typing import Any

#: The last sentence of a message that leaves out what only operators may read.
ASK_OPERATOR = ' Your operator can see why, by the id of the lease or of the request.'

#: Keyword arguments that are the owner's version of another one; never shown as details.
_OWNERS = {'owner_message': None, 'owner_reason': 'reason', 'owner_nearest': 'nearest'}


class ConfigurationError(Exception):
    """The configuration cannot be used. The text names the option, what is wrong, and what to do.

    Programs print it on one line and end with the exit status 1.
    """


class ClimateError(Exception):
    """The root of all errors. Show `message` or `owner_message`, never ``str(error)``.

    Both messages are the same unless the class has an `owner_template`, or the error has one of
    these keyword arguments: ``owner_message``, the whole message; ``owner_reason`` instead of
    ``reason``; ``owner_nearest`` instead of ``nearest``.

    oslo.messaging rebuilds an error on the other side of the bus as ``klass(*args, **kwargs)``,
    therefore ``__init__`` keeps its keyword arguments. ``str(error)`` of a rebuilt error contains
    the traceback of the manager.
    """

    status = 500
    code = 'internal_error'
    template = 'Climate failed with an internal error; the operator finds the reason in the log.'
    owner_template: str | None = None
    #: Names of details that only operators see.
    operators_details: frozenset[str] = frozenset()

    def __init__(self, message: str | None = None, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self.message = message or self.sentence(kwargs)
        super().__init__(self.message)

    @classmethod
    def sentence(cls, words):
        """Fill in the template with `words`."""
        return cls.template.format(**words)

    @property
    def owner_message(self) -> str:
        """The message for those who may not read what only operators may."""
        if 'owner_message' in self.kwargs:
            return self.kwargs['owner_message']
        if 'owner_reason' in self.kwargs:
            return self.sentence({**self.kwargs, 'reason': self.kwargs['owner_reason']})
        if self.owner_template is not None:
            return self.owner_template.format(**self.kwargs)
        return self.message

    @property
    def details(self) -> dict[str, Any]:
        """The keyword arguments of the error, for programs, as a JSON-ready dict."""
        return {name: value for name, value in self.kwargs.items() if name not in _OWNERS}

    @property
    def owner_details(self) -> dict[str, Any]:
        """The details for those who may not read what only operators may."""
        own = {_OWNERS[name]: value for name, value in self.kwargs.items()
               if _OWNERS.get(name) is not None}
        return {name: own.get(name, value) for name, value in self.details.items()
                if name not in self.operators_details or name in own}


def with_sentence(error: ClimateError, sentence: str, **more: Any) -> ClimateError:
    """Return a copy of an error, with a sentence added to both of its messages.

    :param more: details that are added.
    """
    kwargs = {**error.kwargs, **more, 'owner_message': f'{error.owner_message} {sentence}'}
    return type(error)(f'{error.message} {sentence}', **kwargs)


class _BeginsWithNoun:
    """Mixin for a template that begins with an argument: capitalizes the message."""

    @classmethod
    def sentence(cls, words):
        text = super().sentence(words)
        return text[:1].upper() + text[1:]


class BadRequest(ClimateError):
    status = 400
    code = 'bad_request'
    template = '{reason}'


class BadField(BadRequest):
    code = 'bad_field'
    template = '{field}: {reason}'


class ReservedFlavor(BadField):
    code = 'reserved_flavor'


class BadDate(BadRequest):
    # Existing clients look for "is an invalid date. Required format: …" in the message.
    code = 'bad_date'
    template = ('{value} is an invalid date. Required format: %Y-%m-%d %H:%M ({field}: {reason})')


class MissingFields(BadRequest):
    # Existing clients look for "Missing parameter" in the message.
    code = 'missing_fields'
    template = 'Missing parameter {fields}'


class UnknownResourceType(BadRequest):
    code = 'unknown_resource_type'
    template = 'resource_type: "{resource_type}" is not enabled here; enabled are: {enabled}.'


class MalformedRequirement(BadRequest):
    code = 'malformed_requirement'
    template = 'Criteria: {part} cannot be read: {reason}'


class UnknownProperty(BadRequest):
    code = 'unknown_property'
    template = 'Criteria: no {pool} has a property "{name}". Known names: {near}.'


class BadPeriod(BadRequest):
    # Existing clients look for the first sentence.
    code = 'bad_period'
    template = ('End date must be later than start date. end: {end} UTC is not after the start, '
                '{start} UTC.')


class PropertyNameTooLong(BadRequest):
    # Existing clients look for "Extra capability key too long".
    code = 'property_name_too_long'
    template = 'Extra capability key too long: "{name}" has {length} characters, at most 64 fit.'


class NotAuthenticated(ClimateError):
    status = 401
    code = 'not_authenticated'
    template = 'The request needs valid credentials.'


class Forbidden(ClimateError):
    status = 403
    code = 'forbidden'
    template = 'Policy does not allow {action} to be performed with these roles.'


class WrongScope(Forbidden):
    code = 'wrong_scope'
    template = ('The token is {scope}, and Climate needs the token of a project: administrators '
                'need the role admin in a project. Log in with OS_PROJECT_NAME (--os-project-name) '
                'instead of OS_SYSTEM_SCOPE or OS_DOMAIN_NAME.')


class TrustRefused(Forbidden):
    code = 'trust_refused'
    template = ('Climate needs a Keystone trust to act for you while the lease lasts, and Keystone '
                'refused to make one from this token: {reason} Use a token from a password or '
                'another login that may delegate, not an application credential.')
    owner_template = (
        'Climate needs a Keystone trust to act for you while the lease lasts, and Keystone refused '
        'to make one from this token. Use a token from a password or another login that may '
        'delegate, not an application credential.')
    operators_details = frozenset({'reason'})


class ActsForLease(Forbidden):
    code = 'acts_for_lease'
    template = ('This token acts for a lease: what is created with it belongs to that lease and '
                'gets no lease of its own.')


class NotFound(ClimateError):
    status = 404
    code = 'not_found'
    template = '{what} was not found.'


class LeaseNotFound(NotFound):
    code = 'lease_not_found'
    template = 'Lease {lease_id} was not found.'


class ReservationNotFound(NotFound):
    code = 'reservation_not_found'
    template = 'Reservation {reservation_id} was not found.'


class UnknownPool(NotFound):
    code = 'unknown_pool'
    template = 'There is no pool "{pool}"; enabled are: {enabled}.'


class ResourceNotFound(_BeginsWithNoun, NotFound):
    """``details``: ``pool``, ``resource`` (its name or id)."""

    code = 'resource_not_found'
    template = '{pool} {resource} was not found.'


class TargetGone(_BeginsWithNoun, NotFound):
    """The target of a reservation is not in the cloud. ``details``: ``kind``, ``target_id``."""

    code = 'target_gone'
    template = '{kind} {target_id} was not found.'


class OfferNotFound(NotFound):
    code = 'offer_not_found'
    template = ('Offer {offer_id} was not found: it was taken or released, or belongs to another '
                'project. Ask for availability again.')


class SubscriptionNotFound(NotFound):
    code = 'subscription_not_found'
    template = 'Subscription {subscription_id} was not found.'


class CalendarNotFound(NotFound):
    code = 'calendar_not_found'
    template = ('No calendar has this address. If it was renewed, the new address is the one that '
                'the renewal showed.')


class MaintenanceNotFound(NotFound):
    code = 'maintenance_not_found'
    template = ('There is no maintenance {maintenance_id}, or it is over; '
                '"climate maintenance list" names those that there are.')


class PropertyNotFound(NotFound):
    code = 'property_not_found'
    template = 'No {pool} has a property "{name}".'


class PriceBookNotFound(NotFound):
    code = 'price_book_not_found'
    template = 'Price book {version} was not found: "price-book list" has the versions.'


class NoPriceBook(NotFound):
    code = 'no_price_book'
    template = ('No price book is valid now, so leases cost nothing. An administrator adds one: '
                '"price-book create --file FILE".')


class StatementNotFound(NotFound):
    code = 'statement_not_found'
    template = ('Project {project_id} has no statement of {month}: a lease is billed when it has '
                'ended, or its month has.')


class NotAcceptable(ClimateError):
    status = 406
    code = 'version_not_served'
    template = 'REST version {version} is not served; served are {minimum} to {maximum}.'


class Conflict(ClimateError):
    status = 409
    code = 'conflict'
    template = '{reason}'


class BadTransition(Conflict):
    code = 'bad_transition'
    template = 'Lease {lease_id} is {status}: it cannot {task} now. Try again in a moment.'


class LeaseEnded(Conflict):
    # Existing clients expect 400, although this is a conflict with the state of the lease.
    status = 400
    code = 'lease_ended'
    template = 'Lease {lease_id} is past its end: it can only be renamed or deleted.'


class NotEnough(Conflict):
    """Too few resources are free.

    ``details``: ``wanted`` and ``free`` (counts), ``criteria`` ([{"criterion": text, "met_by":
    count}], for each condition by itself), ``matching`` (how many resources met all conditions),
    ``nearest`` (the earliest later start at which the request fits, as ISO text, or None). For
    best effort the details are instead ``wanted``, ``free``, ``reasons`` ({host: why it cannot be
    cleared}, shown to callers whom policy allows) and ``own_servers`` (ids of servers of the
    caller's project on hosts that could be cleared).
    """

    code = 'not_enough'
    operators_details = frozenset({'reasons'})
    template = 'Not enough {what} are free: {wanted} asked for, {free} free.'


class LostRace(Conflict):
    code = 'lost_race'
    template = 'Other requests booked the same resources at the same time. Try again.'


class OfferExpired(Conflict):
    code = 'offer_expired'
    template = 'Offer {offer_id} {reason}. Ask for availability again.'


class LimitReached(Conflict):
    """The project has reached a limit of Climate, or a quota of another service.

    ``details`` of a quota: ``limit``, such as "neutron.floatingip", and ``reason``.

    :ivar limit: the name of the limit, if the class stands for one.
    """

    code = 'limit_reached'
    limit: str | None = None

    @property
    def limit_name(self) -> str:
        """The name of the limit, for those who are told that it was reached."""
        return str(self.limit or self.kwargs['limit'])


class TooManyOffers(LimitReached):
    code = 'too_many_offers'
    limit = 'offers_per_project'
    template = ('Your project holds {most} offers, the maximum at a time: take one, release one, '
                'or wait until {until}.')


class TooManyRequestBytes(LimitReached):
    code = 'too_many_request_bytes'
    limit = 'request_bytes_per_project'
    template = ('This request needs {more} bytes in the database. The leases and offers of your '
                'project have {used} of at most {most} bytes (request_bytes_per_project): '
                'delete those that you do not need, or ask your operator. A lease that is over '
                'counts for one more day.')


class PriceBookOverlaps(Conflict):
    code = 'price_book_overlaps'
    template = ('Version {version} of the price book is valid from {valid_from} too: a version is '
                'never changed; let the new one begin at another moment.')


class TooManySubscriptions(LimitReached):
    code = 'too_many_subscriptions'
    limit = 'subscriptions_per_project'
    template = ('Your project has {most} subscriptions, the maximum: delete one, or ask your '
                'operator.')


class TooManyOwnSubscriptions(Conflict):
    code = 'too_many_own_subscriptions'
    template = ('You have {most} subscriptions in this project, the maximum of a user: delete one, '
                'or change one to what you need.')


class SubscriptionOff(Conflict):
    code = 'subscription_off'
    template = 'Subscription {subscription_id} {reason}'


class TooManySwaps(Conflict):
    code = 'too_many_swaps'
    template = ('Your project may swap at most {most} resources that seem to work within {minutes} '
                'minutes. Ask your operator to check this one{after}.')


class TooManyWaiting(LimitReached):
    code = 'too_many_waiting'
    limit = 'waiting_per_project'
    template = ('Your project has {count} leases in the wait queue, the maximum is {most}: delete '
                'one, or wait until one is served.')


class ResourceInUse(_BeginsWithNoun, Conflict):
    """``details``: ``pool``, ``resource``, ``reason``."""

    code = 'resource_in_use'
    template = '{pool} {resource} cannot be changed in this way: {reason}'


class ResourceKnown(_BeginsWithNoun, Conflict):
    """``details``: ``pool``, ``resource``, ``resource_id``."""

    code = 'resource_known'
    template = '{pool} {resource} is enrolled already, as {resource_id}.'


class ResourceAmbiguous(Conflict):
    """``details``: ``pool``, ``resource``."""

    code = 'resource_ambiguous'
    template = ('More than one {pool} is called {resource}: resources that can be leased must have '
                'unique names.')


class TargetLeased(_BeginsWithNoun, Conflict):
    """``details``: ``kind``, ``target_id``, ``lease_id``, ``lease_name``, ``reservation_id``."""

    code = 'target_leased'
    template = ('{kind} {target_id} is leased already, by lease "{lease_name}" ({lease_id}, '
                'reservation {reservation_id}): change that lease, or end it first.')


class PropertyInUse(Conflict):
    code = 'property_in_use'
    template = ('Property "{name}" of {pool} {resource} is a criterion of reservation '
                '{reservation_id}: change it after the end of that lease.')


class StalePrecondition(ClimateError):
    status = 412
    code = 'stale_precondition'
    template = 'Lease {lease_id} has changed since you read it: read it again.'


class BodyTooLarge(ClimateError):
    status = 413
    code = 'body_too_large'
    template = 'The body may have at most {limit} bytes.'


class UnsupportedMediaType(ClimateError):
    # Existing clients expect 400, not 415.
    status = 400
    code = 'unsupported_media_type'
    template = 'Content-Type "{content_type}" is not supported: send application/json.'


class KeyReused(ClimateError):
    status = 422
    code = 'key_reused'
    template = 'Idempotency-Key "{key}" was used with another body before: choose a new key.'


class TooManyRequests(ClimateError):
    status = 429
    code = 'too_many_requests'
    template = ('Your project has {limit} requests in progress, which is the most that it may '
                'have: try again in {retry_after} seconds.')


class TestedTooOften(ClimateError):
    status = 429
    code = 'tested_too_often'
    template = ('Subscription {subscription_id} was tested just before: try again in {retry_after} '
                'seconds, or read its log.')


class Overloaded(ClimateError):
    status = 503
    code = 'overloaded'
    template = 'Climate is busy: try again in {retry_after} seconds.'


class PlansBusy(Overloaded):
    code = 'plans_busy'
    template = ('The manager works on {most} plans, which is the most that it may: try again in '
                '{retry_after} seconds.')


class NoManager(Overloaded):
    code = 'no_manager'
    template = 'No manager of Climate has started yet: try again in {retry_after} seconds.'


class DatabaseUnreachable(Overloaded):
    code = 'database_unreachable'
    template = 'The database does not answer: try again in {retry_after} seconds.'


class DatabaseRefuses(DatabaseUnreachable):
    """The database answers, but does not work until somebody acts. ``details``: ``reason``."""

    code = 'database_refuses'
    template = ('The database does not work: {reason} Your operator must act; try again in '
                '{retry_after} seconds.')


class ManagerNotReady(ClimateError):
    status = 503
    code = 'manager_not_ready'
    template = 'The manager is not ready yet: it checks whether it may use the cloud.'


class ManagerSilent(ClimateError):
    status = 504
    code = 'manager_silent'
    template = ('The manager did not answer within {seconds} seconds. The work may go on: look at '
                '{where}.')


class CloudError(ClimateError):
    """Another service of the cloud failed. ``details``: ``service``, ``reason``.

    The reason is in the words of the service, or of its client, and may have its internal address.
    So owners read it only if the error has an ``owner_reason``, which is in the words of Climate.
    """

    status = 502
    code = 'cloud_error'
    template = '{service}: {reason}'
    owner_template = '{service} refused what Climate asked of it, or failed.' + ASK_OPERATOR
    operators_details = frozenset({'reason', 'refused'})

    @classmethod
    def plain(cls, service: str, reason: str, **more: Any) -> 'CloudError':
        """Return the error for a reason in the words of Climate, which owners read too.

        :param reason: without names of hosts, addresses, and ids of other projects.
        """
        return cls(service=service, reason=reason, owner_reason=reason, **more)


class CloudUnreachable(CloudError):
    """A service is down or busy: it did not answer, or answered with an error of its own.

    It refused nothing, so the same call can succeed later.
    """

    status = 503
    code = 'cloud_unreachable'
    template = '{service} is not available: {reason}'
    owner_template = '{service} is not available now. Try again later.' + ASK_OPERATOR


class TrustDead(CloudError):
    """The trust of the user yields no token any more, because the user or a role was removed."""

    code = 'trust_dead'
    template = '{service}: the trust of the lease is no longer valid: {reason}'
    owner_template = (
        '{service}: the trust of the lease is no longer valid, because its user or a role was '
        'removed. Make another lease.')


class StillBusy(CloudError):
    """The work is not finished yet: try again in a moment. Never shown to a user.

    Keyword arguments for the manager: ``has_own_limit=True`` if the caller limits the time of this
    wait itself; with it ``takes_minutes=True`` if ever longer pauses between two tries will do.
    """

    code = 'still_busy'
    template = '{service}: {reason}'
    owner_template = '{service} is not ready for this yet; Climate tries again.'


class PowerFailed(CloudError):
    """A resource could not be switched on or off, or does not say which it is.

    ``details``: ``resource``, ``reason``.
    """

    code = 'power_failed'
    template = 'The power of {resource}: {reason}'
    owner_template = 'A resource could not be switched on.' + ASK_OPERATOR


class ResourcesRefused(CloudError):
    """A service refuses some resources for now, and others may do. Never shown to a user.

    ``details``: ``service``, ``reason``, ``refused`` ({name of the resource: the reason}).
    """

    code = 'resources_refused'
    template = '{service}: {reason}'
    owner_template = '{service} refuses a resource that was allocated.' + ASK_OPERATOR

    def __init__(self, message: str | None = None, **kwargs: Any) -> None:
        refused = kwargs.get('refused', {})
        kwargs.setdefault('reason', ' '.join(refused.values()))
        super().__init__(message, **kwargs)

    @property
    def refused(self) -> dict[str, str]:
        """The reasons by the names of the resources."""
        return self.kwargs['refused']
