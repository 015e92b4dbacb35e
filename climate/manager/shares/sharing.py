# SPDX-License-Identifier: Apache-2.0
"""Share leases with other projects and users, and withdraw or leave these shares."""
import dataclasses

from oslo_log import log
from oslo_utils import uuidutils

from climate import errors
from climate.cloud import caching_cloud
from climate.db import leases
from climate.db import shares as stored
from climate.domain import lease_actions
from climate.domain import losses
from climate.domain import shares
from climate.manager import core as cores
from climate.manager import lease_cloud
from climate.manager.shares import former_servers
from climate.manager.shares import guest_access
from climate.manager.shares import receivers
from climate.manager.shares import withdrawals

LOG = log.getLogger(__name__)

_FATES = {shares.STOP: losses.STOPPED, shares.DELETE: losses.DELETED}


class Sharing:
    """The use cases of /v1/leases/{id}/shares. The API has checked that the caller may share."""

    def __init__(self, core):
        self._core = core
        self._guests = guest_access.GuestAccess(core)

    def share(self, context, lease_id, request):
        """Share a lease; return the Share.

        :raises LeaseNotFound: no lease has this id, or it was deleted.
        :raises ShareRefused: the lease is over, or is being deleted.
        :raises BadField: a field of the ShareRequest is wrong; the error names it.
        :raises AlreadyShared: the receiver has an open share of the lease.
        :raises TooManyShares: the lease has the maximum number of open shares.
        """
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        now = self._core.clock()
        self._refuse(lease, request, now)
        identity = receivers.find(self._core, request.receiver_kind, request.receiver)
        named = dataclasses.replace(request, receiver=identity.id)
        shares.refuse_wrong(named, lease, now)
        share = self._new(context, lease, named, identity, now)
        self._write(context, share, now)
        self._core.notify()
        return share

    def preview(self, lease_id, share_id):
        """Return the Withdrawal that `withdraw` would make, with the running servers."""
        with self._core.database.reader() as connection:
            lease = leases.get(connection, lease_id)
        share = _open_share(lease, share_id, self._core.clock())
        return shares.Withdrawal(share, self._servers(lease, share))

    def withdraw(self, context, lease_id, share_id, left=False):
        """Withdraw a share; return the Withdrawal, with the servers of the receiver that run.

        :param left: whether the receiver leaves the lease.
        :raises ShareNotFound: the lease has no such open share.
        """
        lease, share = self._write_withdrawal(context, lease_id, share_id, left)
        self._core.notify()
        return shares.Withdrawal(share, self._servers(lease, share))

    @cores.again_after_a_race
    def _write_withdrawal(self, context, lease_id, share_id, left):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, lease_id)
            now = self._core.clock()
            share = withdrawals.withdraw(
                connection, lease, _open_share(lease, share_id, now), now,
                shares.LEFT if left else shares.WITHDRAWN,
                context.user_id or 'climate')
        return lease, share

    @cores.again_after_a_race
    def _write(self, context, share, now):
        with self._core.database.writer() as connection:
            lease = leases.lock(connection, share.lease_id)
            lease_actions.refuse(lease, lease_actions.SHARE, now)
            self._refuse_more(lease, share, now)
            stored.add(connection, share)
            if not lease.shared:
                leases.change(connection, lease, now, shared=True)
            withdrawals.order_events(connection, lease, share, now)
            withdrawals.report(connection, lease, share, now, shares.SHARED,
                               context.user_id or 'climate')

    def _refuse(self, lease, request, now):
        lease_actions.refuse(lease, lease_actions.SHARE, now)
        shares.refuse_wrong(request, lease, now)
        former_servers.refuse_choice(self._core.conf, request)
        if request.role == shares.USER and not any(
                self._takes_guests(each) for each in lease.open_reservations):
            types = sorted(name for name, plugin in self._core.registry.plugins.items()
                           if plugin.has_guests)
            raise errors.BadField(field='role', reason=(
                'other projects cannot use the resources of this lease. They can use those of '
                f'{", ".join(types) or "no type here"}: share it as viewer or manager.'))

    def _takes_guests(self, reservation):
        plugin = self._core.registry.plugins.get(reservation.resource_type)
        return plugin is not None and plugin.takes_guests(reservation.request)

    def _refuse_more(self, lease, share, now):
        open_shares = [each for each in lease.shares if each.is_open(now)]
        for known in open_shares:
            if (known.project_id, known.user_id) == (share.project_id, share.user_id):
                raise errors.AlreadyShared(
                    lease_id=lease.id, share_id=known.id, receiver=known.receiver,
                    role=known.role)
        most = self._core.conf.shares.most_per_lease
        if len(open_shares) >= most:
            raise errors.TooManyShares(lease_id=lease.id, most=most)

    def _new(self, context, lease, request, identity, now):
        conf = self._core.conf.shares
        uses = request.receiver_kind == shares.PROJECT_ID and request.role != shares.VIEWER
        return shares.Share(
            id=uuidutils.generate_uuid(), lease_id=lease.id, role=request.role, created_at=now,
            created_by=context.user_id or 'climate', receiver_name=identity.name[:255],
            until=request.until, on_withdrawal=(
                request.on_withdrawal or conf.on_withdrawal if uses else shares.KEEP),
            notice_seconds=former_servers.notice_seconds(self._core.conf, request),
            **{request.receiver_kind: identity.id})

    def _servers(self, lease, share):
        """Return the running servers of the receiver of a Share as Losses, or None.

        None means that the cloud does not list them now. This must not prevent a withdrawal.
        """
        if not share.lets_in:
            return ()
        cloud = lease_cloud.ActionCloud(caching_cloud.CachingCloud(self._core.cloud), lease)
        try:
            servers = self._guests.servers(lease, cloud, share.project_id)
        except errors.CloudError as error:
            LOG.warning('Lease %s: the servers of %s cannot be listed: %s', lease.id,
                        share.receiver, error.message)
            return None
        withdrawn_at = share.withdrawn_at or self._core.clock()
        at = dataclasses.replace(share, withdrawn_at=withdrawn_at).clears_at
        return tuple(dataclasses.replace(
            server, fate=_FATES.get(share.on_withdrawal, losses.KEPT), at=at)
            for server in servers)


def _open_share(lease, share_id, now):
    """Return an open Share of a lease.

    :raises ShareNotFound: the lease has no such share, or it is over.
    """
    for share in lease.shares:
        if share.id == share_id and share.is_open(now):
            return share
    raise errors.ShareNotFound(share_id=share_id, lease_id=lease.id)
