# SPDX-License-Identifier: Apache-2.0
"""virtual:floatingip, floating IPs with addresses that nobody else can get meanwhile."""
import dataclasses

from oslo_config import cfg

from climate import errors
from climate.domain import audit
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base
from climate.plugins.network import address_pool
from climate.plugins.network import floatingip_request
from climate.plugins.network import marks
from climate.plugins.network import owned
from climate.plugins.network import use

#: The needs: addresses that the request names, and any others.
NAMED, OTHERS = 'named', 'others'


class FloatingIPPlugin(base.ResourcePlugin):
    """Floating IPs in the owner's project: made at the start, deleted at the end.

    Only Climate itself may choose an address in Neutron, so it creates them, in the owner's
    project. Their owner may change or delete them: ``owned`` recognises them.
    """

    resource_type = 'virtual:floatingip'
    pools = (address_pool.AddressPool,)
    services = ('neutron',)
    measures_use = True
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
                   help='Tag of the floating IPs of leases. Each has the tag '
                        '"reservation:ID", too.'),
        cfg.IntOpt('release_seconds', default=60, min=0,
                   help='Seconds for which a floating IP at the end is kept, at most, until its '
                        'router does not serve it any more (its status in Neutron is not ACTIVE). '
                        'Then it is deleted all the same. 0: it is deleted at once.'),
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
        found = []
        if named is not None:
            found.append(base.Need(NAMED, pool, _exactly(len(kept)),
                                   requirement.conjunction(network, named)))
        others = request['amount'] - len(kept)
        if others:
            wanted = network if named is None else requirement.conjunction(
                network, requirement.Not(named))
            found.append(base.Need(OTHERS, pool, _exactly(others), wanted))
        return found

    def start(self, cloud, lease, reservation, resources):
        services = cloud.as_service()
        wanted = {each.facts['address']: each for each in _all_of(resources)}
        mine = {each.address: each
                for each in owned.of_reservation(services, lease, reservation)}
        surplus = [mine.pop(address) for address in sorted(set(mine) - set(wanted))]
        self._take_back(cloud, surplus, cloud.attempt)
        for each in mine.values():
            # An earlier try may have broken off after the call that created it.
            self._tag(services.floating_ips, each, reservation)
        missing = [each for address, each in wanted.items() if address not in mine]
        floatingip_request.check_quota(cloud, lease.project_id, len(missing))
        made = self._created(cloud, lease, reservation, missing)
        return {**reservation.binding, 'floating_ips': {
            each.address: each.id for each in sorted([*mine.values(), *made],
                                                     key=lambda each: each.address)}}

    def end(self, cloud, lease, reservation, resources):
        self._take_back(cloud, owned.of_reservation(cloud.as_service(), lease, reservation),
                        cloud.attempt)

    def use(self, cloud, parts):
        return use.of_addresses(cloud, parts)

    def observe(self, cloud):
        services = cloud.as_service()
        every = services.floating_ips.every()
        marked = owned.leasable(services, [each for each in every if marks.of(each)])
        return Observed(tuple(every), tuple(marked))

    def traces(self, observed):
        # Not signed: the owner of any floating IP may write these marks.
        return [audit.Trace(made_for, 'floating IP', each.address)
                for each in observed.marked for made_for in sorted(marks.of(each))]

    def lacks(self, observed, lease, reservation, resources):
        there = {(each.network_id, each.address): each for each in observed.floating_ips}
        found, made = [], reservation.binding.get('floating_ips', {})
        for each in _all_of(resources):
            address = each.facts['address']
            existing = there.get((each.facts['network_id'], address))
            if existing is None:
                found.append(audit.Drift(
                    'incomplete', f'reservation {reservation.id}', f'floating IP {address} is '
                    'missing', audit.COMPLETE, reservation.id))
            elif existing.project_id == lease.project_id and existing.id != made.get(
                    address, existing.id):
                found.append(audit.Drift(
                    'incomplete', f'reservation {reservation.id}', f'floating IP {address} was '
                    f'recreated as {existing.id}', audit.COMPLETE, reservation.id))
            elif existing.project_id != lease.project_id:
                found.append(audit.Drift(
                    'incomplete', f'reservation {reservation.id}', f'floating IP {address} is in '
                    f'project {existing.project_id}, not in {lease.project_id}'))
        return found

    def complete(self, cloud, lease, reservation, resources):
        return self.start(cloud, lease, reservation, resources)

    def clear(self, cloud, made_for, resources):
        # Others may lease the address by now.
        free = {(each.facts['network_id'], each.facts['address']) for each in resources
                if each.pool == address_pool.AddressPool.name}
        found = [each for each in cloud.as_service().floating_ips.every()
                 if made_for in marks.of(each) and (each.network_id, each.address) in free]
        self._take_back(cloud, found, None)

    @classmethod
    def fields(cls, reservation):
        made = reservation.binding.get('floating_ips', {})
        return {**cls.asked(reservation.request), 'floating_ips': [
            {'address': address, 'id': made[address]} for address in sorted(made)]}

    @classmethod
    def shown(cls, reservation):
        return cls.asked(reservation.request)

    def _created(self, cloud, lease, reservation, missing):
        """Create the floating IPs of some Resources; return them as FloatingIPs.

        :raises ResourcesRefused: some addresses are taken; the others were created.
        """
        neutron, made, refused = cloud.as_service().floating_ips, [], {}
        for each in missing:
            try:
                found = neutron.create(each.facts['network_id'], each.facts['address'],
                                       lease.project_id, marks.description(reservation.id))
            except errors.ResourceInUse as error:
                refused[each.name] = error.message
                continue
            self._tag(neutron, found, reservation)
            made.append(found)
        if refused:
            raise errors.ResourcesRefused(service='Neutron', refused=refused)
        return made

    def _take_back(self, cloud, floating_ips, attempt):
        owned.take_back(cloud.as_service().floating_ips, floating_ips, attempt,
                        self.conf[self.resource_type].release_seconds)

    def _tag(self, neutron, floating_ip, reservation):
        tags = (self.conf[self.resource_type].tag, marks.tag(reservation.id))
        if not set(tags) <= set(floating_ip.tags):
            neutron.tag(floating_ip.id, tags)


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is compared.

    :ivar floating_ips: all FloatingIPs.
    :ivar marked: those of them that reservations may have.
    """

    floating_ips: tuple
    marked: tuple


def _exactly(count):
    return selection.Demand(amount=selection.WHOLE, at_least=count, at_most=count,
                            spread=selection.Spread.APART)


def _all_of(resources):
    return [each for found in resources.values() for each in found]
