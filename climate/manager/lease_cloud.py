# SPDX-License-Identifier: Apache-2.0
"""The interface of the cloud that a plugin gets during an action for one lease."""
from oslo_log import log

from climate import errors
from climate.domain import texts

LOG = log.getLogger(__name__)

_NO_TRUST = ('Keystone: the lease has no trust, so Climate cannot act for its owner. Make '
             'another lease with a token that may delegate: from a password, not from an '
             'application credential.')


class ActionCloud:
    """Access to the cloud as Climate itself, or on behalf of the lease's owner.

    :ivar attempt: the ``plugins.base.Attempt`` in which the plugin is called; None if the plugin
        only answers a question.
    :ivar warnings: {reservation id: {key: texts.Text}}, the warnings of the plugin: see `warn`.
    :ivar released: {reservation id: ids of Resources}: see `release`.
    """

    def __init__(self, cloud, lease, attempt=None, announcements=None, registry=None,
                 secrets=None, caller=None):
        """Make the interface; no service is called.

        :param caller: the RequestContext of the request that is being answered. If it is of the
            lease's project, `as_user` uses its token; None: no request is being answered.
        :param announcements: the Announcements of the action; None if it announces nothing.
        :param registry: the Registry of the plugins, for `fields`.
        :param secrets: {reservation id: {name: value}}, for `whole_request`.
        """
        self.attempt = attempt
        self._announcements = announcements
        self.warnings = {}
        self.released = {}
        self._cloud = cloud
        self._lease = lease
        self._registry = registry
        self._secrets = secrets or {}
        self._caller = caller

    def as_service(self):
        """Return the Services that act as Climate itself."""
        return self._cloud.as_service()

    def as_user(self):
        """Return the Services that act for the owner, who owns all objects that they create.

        :raises TrustDead: the lease has no trust, or Keystone issues no token for it any more.
        :raises TrustRefused: the request that is being answered carries no token.
        """
        if self._caller is not None and self._caller.project_id == self._lease.project_id:
            return self._cloud.as_caller(self._caller)
        if self._lease.trust_id is None:
            raise errors.TrustDead(_NO_TRUST, owner_message=_NO_TRUST, service='Keystone',
                                   reason='there is no trust.')
        return self._cloud.as_user(self._lease.trust_id)

    def as_user_redelegated(self):
        """Return the Services that act for the owner under a trust redelegated from the lease's.

        :raises TrustDead: see `as_user`.
        """
        services = self.as_user()
        try:
            trust = services.keystone.redelegate()
        except errors.TrustRefused as error:
            # An earlier release created the trust of the lease, with fewer redelegations.
            LOG.warning('Lease %s: its trust cannot be redelegated again: %s', self._lease.id,
                        error.message)
            return services
        return self._cloud.as_user(trust.id)

    def warn(self, reservation, key, text, operators_text=None):
        """Add a warning to the history and the reason of the lease.

        The event loop writes the warning after this action. From then on, the key is in
        ``binding['warnings']`` of the reservation, so the plugin knows that it has warned.

        :param operators_text: another text for operators, such as Nova's message.
        """
        self.warnings.setdefault(reservation.id, {})[key] = texts.Text(
            text, operators_text or text)

    def whole_request(self, reservation):
        """Return the request of a reservation, including the secret fields of its plugin."""
        return {**reservation.request, **self._secrets.get(reservation.id, reservation.secrets)}

    def fields(self, reservation):
        """Return the fields of a reservation as API responses show them, with its id.

        A plugin reads them of the reservations on which its own reservation depends, to find their
        objects in the cloud.
        """
        plugin = self._registry.plugin(reservation.resource_type)
        return {'id': reservation.id, **plugin.fields(reservation)}

    def announce(self, what, words):
        """Announce in the history of the lease what the plugin will do to servers.

        :param what: the heading of the entries, such as "delete server".
        :param words: {id: the text of its entry, which contains the id}.
        :raises StillBusy: entries are missing. The manager writes them and calls the plugin again.
        """
        if words and self._announcements is not None and self._announcements.lacks(what, words):
            raise errors.StillBusy(service='Climate', has_own_limit=True, reason=(
                f'"{what}" is written into the history first.'))

    def release(self, reservation, resources):
        """Release Resources of a reservation before its end is done.

        If only some resources are free in the cloud, the plugin's `end` calls this method for them
        and then raises an error.
        """
        self.released.setdefault(reservation.id, set()).update(each.id for each in resources)

    def as_owner_or_service(self):
        """Return the Services that act for the owner or, if that is impossible, as Climate itself.

        Use this only to release the resources of a lease, because a release must not fail if the
        owner is gone. The caller must transfer objects that Climate creates as itself to the
        owner's project.
        """
        try:
            return self.as_user()
        except errors.TrustDead as error:
            LOG.warning('Lease %s: Climate acts as itself, not for the owner: %s', self._lease.id,
                        error.message)
            return self.as_service()
