# SPDX-License-Identifier: Apache-2.0
"""The cloud as a plugin uses it during an action for one lease."""
from oslo_log import log

from climate import errors
from climate.domain import texts

LOG = log.getLogger(__name__)

_NO_TRUST = ('Keystone: the lease has no trust, so that Climate cannot act for its owner. Make '
             'another lease with a token that may delegate: from a password, not from an '
             'application credential.')


class LeaseCloud:
    """The cloud, used as Climate itself or on behalf of the lease's owner.

    :ivar attempt: the ``plugins.base.Attempt`` in which the plugin is called; None if the plugin
        is only asked a question.
    :ivar warnings: {reservation id: {key: texts.Text}}, what the plugin has warned of: see `warn`.
    :ivar given_back: {reservation id: ids of Resources}: see `give_back`.
    """

    def __init__(self, cloud, lease, attempt=None):
        self.attempt = attempt
        self.warnings = {}
        self.given_back = {}
        self._cloud = cloud
        self._lease = lease

    def as_service(self):
        """Return the Services that act as Climate itself."""
        return self._cloud.as_service()

    def as_user(self):
        """Return the Services that act for the owner, so that all they create is the owner's.

        :raises TrustDead: the lease has no trust, or Keystone gives no token for it any more.
        """
        if self._lease.trust_id is None:
            raise errors.TrustDead(_NO_TRUST, owner_message=_NO_TRUST, service='Keystone',
                                   reason='there is no trust.')
        return self._cloud.as_user(self._lease.trust_id)

    def warn(self, reservation, key, text, operators_text=None):
        """Tell the owner something in the history and the reason of the lease.

        :param operators_text: what operators read instead, such as the words of Nova.

        It is written when this action is over. From then on ``binding['warnings']`` of the
        reservation has the key, and a plugin can tell that its warning is written.
        """
        self.warnings.setdefault(reservation.id, {})[key] = texts.Text(
            text, operators_text or text)

    def give_back(self, reservation, resources):
        """Say that the end of a reservation has returned these Resources, though not all.

        Call it in `end`, before an error is raised because of the others.
        """
        self.given_back.setdefault(reservation.id, set()).update(each.id for each in resources)

    def as_owner_or_service(self):
        """Return the Services that act for the owner or, if that is impossible, as Climate itself.

        Use this only to take back the resources of a lease, which must not fail because the owner
        is gone. The caller must hand what Climate then creates over to the owner's project.
        """
        try:
            return self.as_user()
        except errors.TrustDead as error:
            LOG.warning('Lease %s: Climate acts as itself, not for the owner: %s', self._lease.id,
                        error.message)
            return self.as_service()
