# SPDX-License-Identifier: Apache-2.0
"""Every deliberate error of Climate, as one tree.

::

    ClimateError                     500
      BadRequest                     400   the request itself is wrong
        BadField                           one field of the body or of the query
        BadDate                            a moment that cannot be read or used
        MissingFields                      fields that must be there
        UnknownResourceType                no enabled plugin knows the type
        MalformedRequirement               criteria that cannot be read
        UnknownProperty                    criteria that name what no host has
        BadPeriod                          an end that is not after its start
        PropertyNameTooLong
      NotAuthenticated               401
      Forbidden                      403   policy says no
        TrustRefused                       the caller cannot delegate to Climate
      NotFound                       404
        LeaseNotFound HostNotFound PropertyNotFound ReservationNotFound ServerNotFound
        OfferNotFound
      NotAcceptable                  406   a REST version that is not served
      Conflict                       409   right, but not now
        BadTransition                      the state of the lease does not allow it
        LeaseEnded                   400   past its end: it can only be renamed
        NotEnough                          no room: too few resources are free
        LostRace                           somebody booked first (retried inside)
        OfferExpired                       it was held too short, or broke
        TooManyOffers
        HostInUse HostKnown HostAmbiguous PropertyInUse ServerLeased
      StalePrecondition              412   If-Match names an older version
      BodyTooLarge                   413
      UnsupportedMediaType           400
      KeyReused                      422   one Idempotency-Key, two bodies
      Overloaded                     503   try again a little later
        DatabaseUnreachable
      ManagerSilent                  504   no answer in time; the work may go on
      CloudError                     502   another service failed us
        CloudUnreachable TrustDead StillBusy

A class has ``status`` (HTTP), ``code`` (stable, for programs) and ``template``. The keyword
arguments of an error fill its template and travel as ``details``.
"""


class ClimateError(Exception):
    """The root. Render ``error.message``, never ``str(error)``.

    ``__init__`` keeps its keyword arguments, because oslo.messaging rebuilds an error on the far
    side of the bus as ``klass(*args, **kwargs)``, and there ``str(error)`` has the manager's
    traceback in it.
    """

    status = 500
    code = 'internal_error'
    template = 'Climate could not do this; the operator finds the reason in the log.'

    def __init__(self, message=None, **kwargs):
        self.kwargs = kwargs
        self.message = message or self.template.format(**kwargs)
        super().__init__(self.message)

    @property
    def details(self):
        """What a program may want to know, as a JSON-ready dict: the keyword arguments."""
        return self.kwargs


class BadRequest(ClimateError):
    status = 400
    code = 'bad_request'
    template = '{reason}'


class BadField(BadRequest):
    code = 'bad_field'
    template = '{field}: {reason}'


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
    template = 'Criteria: no host has a property "{name}". Near names: {near}.'


class BadPeriod(BadRequest):
    # Existing clients look for this sentence.
    code = 'bad_period'
    template = 'End date must be later than start date. It would start {start} and end {end}.'


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


class TrustRefused(Forbidden):
    code = 'trust_refused'
    template = ('Climate acts for you while you are away by means of a Keystone '
                'trust, and Keystone refused to make one from this token: {reason} Use a token '
                'from a password or another login that may delegate, not an application '
                'credential.')


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


class HostNotFound(NotFound):
    code = 'host_not_found'
    template = 'Host {host} was not found.'


class ServerNotFound(NotFound):
    code = 'server_not_found'
    template = 'Server {server_id} was not found.'


class OfferNotFound(NotFound):
    code = 'offer_not_found'
    template = ('Offer {offer_id} was not found: it was taken or given back, or is not of your '
                'project. Ask for what is available again.')


class PropertyNotFound(NotFound):
    code = 'property_not_found'
    template = 'No host has a property "{name}".'


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
    template = 'Lease {lease_id} is {status}: it cannot {task} now. Look again in a moment.'


class LeaseEnded(Conflict):
    # 400 as clients of the contract know it; it is a state conflict all the same.
    status = 400
    code = 'lease_ended'
    template = 'Lease {lease_id} is past its end: it can only be renamed or deleted.'


class NotEnough(Conflict):
    """Too few resources are free.

    ``details``: ``wanted`` and ``free`` (counts), ``criteria`` ([{"criterion": text, "met_by":
    count}] for each condition by itself), ``matching`` (how many met all), ``nearest`` (ISO text
    of the earliest later start at which it fits, or None). Of a best effort ``reasons`` ({host: why
    it cannot be cleared}, for some callers) and ``own_servers`` (ids of the caller's project on
    lent hosts) instead.
    """

    code = 'not_enough'
    template = 'Not enough {what} are free: {wanted} asked for, {free} free.'


class LostRace(Conflict):
    code = 'lost_race'
    template = 'Others were booking the same resources at the same time. Try again.'


class OfferExpired(Conflict):
    code = 'offer_expired'
    template = 'Offer {offer_id} {reason}. Ask for what is available again.'


class TooManyOffers(Conflict):
    code = 'too_many_offers'
    template = ('Your project holds {most} offers, which is as many as it may at a time: take one, '
                'give one back, or wait until {until}.')


class HostInUse(Conflict):
    code = 'host_in_use'
    template = 'Host {host} cannot be changed so: {reason}'


class HostKnown(Conflict):
    code = 'host_known'
    template = 'Host {host} is enrolled already, as {host_id}.'


class HostAmbiguous(Conflict):
    code = 'host_ambiguous'
    template = ('More than one hypervisor is called {host}: names must be unique for hosts that '
                'are leased.')


class ServerLeased(Conflict):
    code = 'server_leased'
    template = ('Server {server_id} is leased already, by lease {lease_id} (reservation '
                '{reservation_id}): change that lease, or end it first.')


class PropertyInUse(Conflict):
    code = 'property_in_use'
    template = ('Property "{name}" of host {host} is a criterion of reservation {reservation_id}: '
                'change it when that lease is over.')


class StalePrecondition(ClimateError):
    status = 412
    code = 'stale_precondition'
    template = 'Lease {lease_id} has changed since you read it: read it again.'


class BodyTooLarge(ClimateError):
    status = 413
    code = 'body_too_large'
    template = 'The body may have at most {limit} bytes.'


class UnsupportedMediaType(ClimateError):
    # The contract answers 400 to a foreign content type.
    status = 400
    code = 'unsupported_media_type'
    template = 'Content-Type "{content_type}" is not understood: send application/json.'


class KeyReused(ClimateError):
    status = 422
    code = 'key_reused'
    template = 'Idempotency-Key "{key}" was used with another body before: choose a new key.'


class Overloaded(ClimateError):
    status = 503
    code = 'overloaded'
    template = 'Climate is busy: try again in {retry_after} seconds.'


class DatabaseUnreachable(Overloaded):
    code = 'database_unreachable'
    template = 'The database does not answer: try again in {retry_after} seconds.'


class ManagerSilent(ClimateError):
    status = 504
    code = 'manager_silent'
    template = ('The manager did not answer within {seconds} seconds. The work may go on: look at '
                '{where}.')


class CloudError(ClimateError):
    """Another service of the cloud failed us. ``details``: ``service``, ``reason``."""

    status = 502
    code = 'cloud_error'
    template = '{service}: {reason}'


class CloudUnreachable(CloudError):
    code = 'cloud_unreachable'
    template = '{service} cannot be reached: {reason}'


class TrustDead(CloudError):
    """The user's trust does not give a token any more: user or role is gone."""

    code = 'trust_dead'
    template = '{service}: the trust of the lease is no longer valid: {reason}'


class StillBusy(CloudError):
    """Not done yet and nothing is wrong: ask again in a moment. Never shown to a user."""

    code = 'still_busy'
    template = '{service}: {reason}'
