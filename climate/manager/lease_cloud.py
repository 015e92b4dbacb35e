# SPDX-License-Identifier: Apache-2.0
"""The cloud as a plugin sees it while something is done for one lease."""
from oslo_log import log

from climate import errors

LOG = log.getLogger(__name__)


class LeaseCloud:
    """The cloud as the service, or on behalf of the lease's owner.

    Without a trust, or with a dead one, the service itself acts for the owner.

    :ivar attempt: the ``plugins.base.Attempt`` in which the plugin is called; None where it is
        only asked.
    """

    def __init__(self, cloud, lease, attempt=None):
        self.attempt = attempt
        self._cloud = cloud
        self._lease = lease

    def as_service(self):
        return self._cloud.as_service()

    def as_user(self):
        if self._lease.trust_id is None:
            return self._cloud.as_service()
        try:
            return self._cloud.as_user(self._lease.trust_id)
        except errors.TrustDead as error:
            LOG.warning('Lease %s: the service acts for its owner: %s', self._lease.id,
                        error.message)
            return self._cloud.as_service()
