# SPDX-License-Identifier: Apache-2.0
"""All errors of Climate, as one tree.

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
      Forbidden                      403   policy does not allow the request
        TrustRefused                       the caller cannot delegate to Climate
        EnforcementRefused                 the service that allows leases refuses this one
      NotFound                       404
        LeaseNotFound ReservationNotFound OfferNotFound PropertyNotFound UnknownPool
        ShareNotFound TransferNotFound
        PriceBookNotFound StatementNotFound LimitBookNotFound
        SubscriptionNotFound CalendarNotFound
        SeriesNotFound OccurrenceNotFound
        MaintenanceNotFound                the maintenance does not exist, or it is over
        ResourceNotFound                   neither enrolled nor known to the cloud
        TargetGone                         the target that a reservation leases does not exist
      NotAcceptable                  406   a REST version that is not served
      Conflict                       409   a valid request that the current state does not allow
        BadTransition                      the state of the lease does not allow the change
        LeaseEnded                   400   the lease is past its end: it can only be renamed
        NotEnough                          too few resources are free
        LostRace                           another request booked first (the manager retries)
        OfferExpired                       the offer is over, or its resources failed
        ExtensionRefused           403   a rule of extensions does not allow the new end
        LimitReached                       a limit or a quota of the project
          LimitExceeded            403   a limit of the limit book, or of Keystone
          TooManyOffers TooManyOwnSubscriptions TooManyRequestBytes TooManySeries
          TooManySubscriptions TooManyWaiting
        PriceBookOverlaps LimitBookOverlaps  another version is valid from the same moment
        SeriesConflict                     an occurrence of a series is not possible
        SeriesOver                         the series has ended or is cancelled
        SubscriptionOff                    the subscription is switched off
        TooManySwaps                       too many swaps of resources that seem to work
        AlreadyShared                      the project or user has a share of the lease already
        ShareRefused TooManyShares
        AlreadyOffered                     the lease has an open offer to another project
        GiveBackRefused                    the lease has begun, or has no resources
        TransferRefused                    the lease cannot be transferred
        TransferClosed                     the offer of a lease was decided, or has expired
        SubLeaseRefused                    a lease cannot be sub-leased so, or a sub-lease changed
        SubLeasesOpen                      the change would take hosts or time from sub-leases
        ResourceInUse ResourceKnown ResourceAmbiguous PropertyInUse TargetLeased
      StalePrecondition              412   If-Match names an older version
      BodyTooLarge                   413
      UnsupportedMediaType           400
      KeyReused                      422   one Idempotency-Key, two bodies
      TooManyRequests                429   too many requests of one project: try again later
      TestedTooOften                 429   a test of a subscription just after another one
      Overloaded                     503   too many requests: try again later
        PlansBusy EnforcementBusy SeriesInProgress
        NoManager                          no manager has started yet
        ManagerOutdated                    a manager of an older release got a new call
        DatabaseUnreachable                the database does not answer
          DatabaseRefuses                  it refuses the login, is full, or is read-only
      EnforcementUnavailable         503   the service that allows leases gives no answer
      ManagerNotReady                503   a manager that just started checks its access
      ManagerSilent                  504   no response in time; the work may go on
      CloudError                     502   another service of the cloud failed
        TrustDead StillBusy ResourcesRefused
        CloudUnreachable         503   a service is down or busy: try again later
          LimitsUnknown                the limits of the project cannot be read

A class has ``status`` (HTTP), ``code`` (stable, for programs) and ``template``. The keyword
arguments of an error fill its template and become its ``details``. No class is specific to one
pool or one kind of target; ``climate.api.error_names`` has the codes for hosts and servers that
existing clients know.

An error has two messages: ``message`` for operators, and ``owner_message`` for the owner of a
lease. The latter has no names of hosts, ids of other projects, addresses or texts of other
services.
"""
from climate.errors.base import *  # noqa: F403
from climate.errors.cloud import *  # noqa: F403
from climate.errors.enforcement import *  # noqa: F403
from climate.errors.leases import *  # noqa: F403
from climate.errors.limits import *  # noqa: F403
from climate.errors.requests import *  # noqa: F403
from climate.errors.resources import *  # noqa: F403
from climate.errors.series import *  # noqa: F403
from climate.errors.services import *  # noqa: F403
from climate.errors.statements import *  # noqa: F403
from climate.errors.subscriptions import *  # noqa: F403
