# SPDX-License-Identifier: Apache-2.0
"""Errors of other services of the cloud."""
from typing import Any

from climate.errors import base


class CloudError(base.ClimateError):
    """Another service of the cloud failed. ``details``: ``service``, ``reason``.

    The reason is the message of the service or of its client, and may have an internal address. So
    owners do not read it. They read ``owner_reason``, a message of Climate, if the error has one.
    """

    status = 502
    code = 'cloud_error'
    template = '{service}: {reason}'
    owner_template = '{service} refused what Climate asked of it, or failed.' + base.ASK_OPERATOR
    operators_details = frozenset({'reason', 'refused'})

    @classmethod
    def plain(cls, service: str, reason: str, **more: Any) -> 'CloudError':
        """Return the error for a reason that Climate has written, so that owners may read it.

        :param reason: without names of hosts, addresses, and ids of other projects.
        """
        return cls(service=service, reason=reason, owner_reason=reason, **more)


class CloudUnreachable(CloudError):
    """A service is down or busy: it did not answer, or answered with an internal error.

    It did not refuse the call, so the same call can succeed later.
    """

    status = 503
    code = 'cloud_unreachable'
    template = '{service} is not available: {reason}'
    owner_template = '{service} is not available now. Try again later.' + base.ASK_OPERATOR


class LimitsUnknown(CloudUnreachable):
    """The unified limits of a project cannot be read from Keystone, and no recent ones are known.

    An attempt to acquire resources is repeated, as in any outage.
    """

    code = 'limits_unknown'
    template = ('The limits of the project cannot be read from Keystone: {reason} Try again in '
                '{retry_after} seconds.')
    owner_template = ('The limits of the project cannot be read now: try again in {retry_after} '
                      'seconds.' + base.ASK_OPERATOR)


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
    wait; then also ``takes_minutes=True`` if the pauses between two tries may grow.
    """

    code = 'still_busy'
    template = '{service}: {reason}'
    owner_template = '{service} is not ready for this yet; Climate tries again.'


class PowerFailed(CloudError):
    """A resource could not be switched on or off, or its power state is unknown.

    ``details``: ``resource``, ``reason``.
    """

    code = 'power_failed'
    template = 'The power of {resource}: {reason}'
    owner_template = 'A resource could not be switched on.' + base.ASK_OPERATOR


class ResourcesRefused(CloudError):
    """A service refuses some resources now, but may accept others. Never shown to a user.

    ``details``: ``service``, ``reason``, ``refused`` ({name of the resource: the reason}).
    """

    code = 'resources_refused'
    template = '{service}: {reason}'
    owner_template = '{service} refuses a resource that was allocated.' + base.ASK_OPERATOR

    def __init__(self, message: str | None = None, **kwargs: Any) -> None:
        refused = kwargs.get('refused', {})
        kwargs.setdefault('reason', ' '.join(refused.values()))
        super().__init__(message, **kwargs)

    @property
    def refused(self) -> dict[str, str]:
        """The reasons by the names of the resources."""
        return self.kwargs['refused']
