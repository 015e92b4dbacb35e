# SPDX-License-Identifier: Apache-2.0
"""The plugin virtual:floatingip: floating IPs with addresses reserved for the lease."""
import dataclasses

from oslo_config import cfg

from climate import errors
from climate.domain import audit
from climate.domain import losses
from climate.domain import requirement
from climate.domain import selection
from climate.domain import use_sampling
from climate.plugins import audited
from climate.plugins import base
from climate.plugins.network import address_pool
from climate.plugins.network import floatingip_detachment
from climate.plugins.network import floatingip_request
from climate.plugins.network import reservation_marks

#: The keys of the needs: addresses that the request names, and any other addresses.
NAMED, OTHERS = 'named', 'others'


class FloatingIPPlugin(base.ResourcePlugin):
    """Creates floating IPs in the owner's project at the start, and deletes them at the end.

    Climate creates them as itself, because users may not choose an address in Neutron. Owners may
    change or delete their floating IPs. ``reservation_marks`` finds the floating IPs of a lease.
    """

    resource_type = 'virtual:floatingip'
    pools = (address_pool.AddressPool,)
    services = ('neutron',)
    measures_use = True
    transferable = True
    schema = {
        'type': 'object',
        'properties': floatingip_request.PROPERTIES,
        'required': ['network_id', 'amount'],
        'additionalProperties': False,
    }
    example = {'network_id': '3f5b3a62-6d2e-4d8a-9d0c-6a8e0a1c7b11', 'amount': 2,
               'required_floatingips': ['172.24.4.210']}
    options = (
        cfg.StrOpt('tag', default='climate',
                   help='Tag of the floating IPs of leases, in addition to the tag '
                        '"reservation:ID".'),
        cfg.IntOpt('release_seconds', default=60, min=0,
                   help='How long the end of a lease waits at most until no router serves its '
                        'floating IPs any more (their status in Neutron is not ACTIVE), in '
                        'seconds. After that the floating IPs are deleted in any case. 0: they '
                        'are deleted at once.'),
    )

    @classmethod
    def asked(cls, request):
        return floatingip_request.asked(request)

    def resolve(self, cloud, request, occasion):
        return floatingip_request.resolve(cloud, request, occasion)

    def needs(self, request):
        pool = address_pool.AddressPool.name
        network = requirement.Leaf('==', 'network_id', request['network_id'])
        kept = tuple(request[floatingip_request.KEPT])
        named = requirement.In('address', kept) if kept else None
        needs = []
        if named is not None:
            needs.append(base.Need(NAMED, pool, _exactly(len(kept)),
                                   requirement.conjunction(network, named)))
        others = request['amount'] - len(kept)
        if others:
            criteria = network if named is None else requirement.conjunction(
                network, requirement.Not(named))
            needs.append(base.Need(OTHERS, pool, _exactly(others), criteria))
        return needs

    def start(self, cloud, lease, reservation, resources):
        services = cloud.as_service()
        allocated = {each.facts['address']: each for each in _all_of(resources)}
        present = {each.address: each for each in reservation_marks.floating_ips_of(
            services, lease, reservation)}
        surplus = [present.pop(address) for address in _surplus(present, allocated)]
        self._delete(cloud, surplus, cloud.attempt)
        for floating_ip in present.values():
            # An earlier attempt may have been interrupted before it tagged the floating IP.
            self._tag(services.floating_ips, floating_ip, reservation)
        missing = [resource for address, resource in allocated.items() if address not in present]
        floatingip_request.check_quota(cloud, lease.project_id, len(missing))
        created = self._created(cloud, lease, reservation, missing)
        return {**reservation.binding, 'floating_ips': {
            each.address: each.id for each in sorted([*present.values(), *created],
                                                     key=lambda each: each.address)}}

    def end(self, cloud, lease, reservation, resources):
        self._delete(cloud, reservation_marks.floating_ips_of(
            cloud.as_service(), lease, reservation), cloud.attempt)

    def lost_at_end(self, cloud, lease, reservation, resources):
        return _losses(reservation_marks.floating_ips_of(cloud.as_service(), lease, reservation))

    def lost_by_change(self, cloud, lease, reservation, resources):
        allocated = {each.facts['address'] for each in _all_of(resources)}
        present = {each.address: each for each in reservation_marks.floating_ips_of(
            cloud.as_service(), lease, reservation)}
        return _losses([present[address] for address in _surplus(present, allocated)])

    def use(self, cloud, parts):
        attached = {(each.network_id, each.address): each.port_id is not None
                    for each in cloud.as_service().floating_ips.every()}
        shares = {}
        for part in parts:
            facts = part.resource.facts if part.resource is not None else {}
            is_attached = attached.get((facts.get('network_id'), facts.get('address')))
            if is_attached is not None:
                shares[part.key] = use_sampling.of_share(int(is_attached), 1)
        return shares

    def observe(self, cloud):
        services = cloud.as_service()
        every = services.floating_ips.every()
        marked = reservation_marks.leasable(
            services, [each for each in every if reservation_marks.of(each)])
        return ObservedFloatingIPs(tuple(every), tuple(marked))

    def traces(self, observed):
        # Not signed, because users can write these marks on their own floating IPs.
        return [audit.Trace(made_for, 'floating IP', floating_ip.address)
                for floating_ip in observed.marked
                for made_for in sorted(reservation_marks.of(floating_ip))]

    def lacks(self, observed, lease, reservation, resources):
        existing = {(each.network_id, each.address): each for each in observed.floating_ips}
        ids, drifts = reservation.binding.get('floating_ips', {}), []
        for resource in _all_of(resources):
            address = resource.facts['address']
            floating_ip = existing.get((resource.facts['network_id'], address))
            if floating_ip is None:
                problem = f'floating IP {address} is missing'
            elif floating_ip.project_id != lease.project_id:
                drifts.append(audit.Drift('incomplete', f'reservation {reservation.id}', (
                    f'floating IP {address} is in project {floating_ip.project_id}, not in '
                    f'{lease.project_id}')))
                continue
            elif floating_ip.id != ids.get(address, floating_ip.id):
                problem = f'floating IP {address} was recreated as {floating_ip.id}'
            else:
                continue
            drifts.append(audited.incomplete(reservation, problem))
        return drifts

    def complete(self, cloud, lease, reservation, resources):
        return self.start(cloud, lease, reservation, resources)

    def clear(self, cloud, made_for, resources):
        # Delete no floating IP whose address another lease has now.
        free = {(each.facts['network_id'], each.facts['address']) for each in resources
                if each.pool == address_pool.AddressPool.name}
        self._delete(cloud, [each for each in cloud.as_service().floating_ips.every()
                             if made_for in reservation_marks.of(each)
                             and (each.network_id, each.address) in free], None)

    @classmethod
    def fields(cls, reservation):
        ids = reservation.binding.get('floating_ips', {})
        return {**cls.asked(reservation.request), 'floating_ips': [
            {'address': address, 'id': ids[address]} for address in sorted(ids)]}

    @classmethod
    def shown(cls, reservation):
        return cls.asked(reservation.request)

    def _created(self, cloud, lease, reservation, missing):
        """Create the FloatingIPs with the addresses of the missing Resources; return them.

        :raises ResourcesRefused: some addresses are in use; the other floating IPs were created.
        """
        neutron, created, refused = cloud.as_service().floating_ips, [], {}
        for resource in missing:
            try:
                floating_ip = neutron.create(
                    resource.facts['network_id'], resource.facts['address'], lease.project_id,
                    reservation_marks.description(reservation.id))
            except errors.ResourceInUse as error:
                refused[resource.name] = error.message
                continue
            self._tag(neutron, floating_ip, reservation)
            created.append(floating_ip)
        if refused:
            raise errors.ResourcesRefused(service='Neutron', refused=refused)
        return created

    def _delete(self, cloud, floating_ips, attempt):
        floatingip_detachment.detach_and_delete(
            cloud.as_service().floating_ips, floating_ips, attempt,
            self.conf[self.resource_type].release_seconds)

    def _tag(self, neutron, floating_ip, reservation):
        tags = (self.conf[self.resource_type].tag, reservation_marks.tag(reservation.id))
        if not set(tags) <= set(floating_ip.tags):
            neutron.tag(floating_ip.id, tags)


@dataclasses.dataclass(frozen=True)
class ObservedFloatingIPs:
    """The observed state of Neutron.

    :ivar floating_ips: all FloatingIPs.
    :ivar marked: the FloatingIPs that may belong to reservations.
    """

    floating_ips: tuple
    marked: tuple


def _exactly(count):
    return selection.Demand(amount=selection.WHOLE, at_least=count, at_most=count,
                            spread=selection.Spread.APART)


def _surplus(present, allocated):
    """Return the sorted addresses of floating IPs that a reservation has no more right to."""
    return sorted(set(present) - set(allocated))


def _losses(floating_ips):
    return [losses.Loss('floating IP', each.id, each.address, each.project_id)
            for each in floating_ips]


def _all_of(resources):
    return [each for need_resources in resources.values() for each in need_resources]
