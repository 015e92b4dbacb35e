# SPDX-License-Identifier: Apache-2.0
"""virtual:floatingip, floating IPs with addresses that nobody else can get meanwhile."""
import dataclasses

from oslo_config import cfg
from oslo_log import log

from climate import errors
from climate.domain import audit
from climate.domain import lifecycle
from climate.domain import requirement
from climate.domain import selection
from climate.plugins import base
from climate.plugins.network import address_pool

LOG = log.getLogger(__name__)

#: The needs: addresses that the request names, and any others.
NAMED, OTHERS = 'named', 'others'
# The field of a stored request with the addresses of the need NAMED.
_KEPT = 'kept_floatingips'
# What stands before the id of the reservation, in a tag and in the description of a floating IP.
_TAG, _MARK = 'reservation:', 'Climate reservation '


class FloatingIPPlugin(base.ResourcePlugin):
    """Floating IPs in the owner's project: made at the start, deleted at the end.

    Only Climate itself may choose an address in Neutron, so it creates them, in the owner's
    project. The owner may change or delete them: what Climate deletes is found by the address.
    """

    resource_type = 'virtual:floatingip'
    pools = (address_pool.AddressPool,)
    services = ('neutron',)
    schema = {
        'type': 'object',
        'properties': {
            'network_id': {'description': 'Id of the external network.', 'type': 'string',
                           'minLength': 1, 'maxLength': 36},
            'amount': {'description': 'How many floating IPs.', 'type': 'integer', 'minimum': 1,
                       'maximum': 1000000, 'default': 1},
            'required_floatingips': {
                'description': 'Addresses that must be among them.', 'type': 'array',
                'items': {'type': 'string', 'minLength': 1, 'maxLength': 45}, 'maxItems': 1000},
        },
        'required': ['network_id', 'amount'],
        'additionalProperties': False,
    }
    example = {'network_id': '3f5b3a62-6d2e-4d8a-9d0c-6a8e0a1c7b11', 'amount': 2,
               'required_floatingips': ['172.24.4.210']}
    options = (
        cfg.StrOpt('tag', default='climate',
                   help='Tag of the floating IPs of leases. Each has the tag '
                        '"reservation:ID", too.'),
    )

    @classmethod
    def asked(cls, request):
        return {name: value for name, value in request.items() if name != _KEPT}

    def resolve(self, cloud, request, occasion):
        before, amount = occasion.before, request['amount']
        required = _required(request)
        if before is None:
            address_pool.external_network(cloud, request['network_id'])
            kept = required or request.get(_KEPT, ())[:amount]
        else:
            _refuse_changes(before, request['network_id'], required)
            kept = required or _kept(before)[:amount]
        had = 0 if before is None or not _runs(before) else before.request['amount']
        if amount > had:
            self._check_quota(cloud, occasion.project_id, amount - had)
        return {**self.asked(request), 'required_floatingips': required, _KEPT: list(kept)}

    def needs(self, request):
        pool = address_pool.AddressPool.name
        network = requirement.Leaf('==', 'network_id', request['network_id'])
        named = requirement.In('address', tuple(request[_KEPT])) if request[_KEPT] else None
        found = []
        if named is not None:
            found.append(base.Need(NAMED, pool, _exactly(len(request[_KEPT])),
                                   requirement.conjunction(network, named)))
        others = request['amount'] - len(request[_KEPT])
        if others:
            wanted = network if named is None else requirement.conjunction(
                network, requirement.Not(named))
            found.append(base.Need(OTHERS, pool, _exactly(others), wanted))
        return found

    def start(self, cloud, lease, reservation, resources):
        neutron = cloud.as_service().floating_ips
        wanted = {each.facts['address']: each for each in _all_of(resources)}
        mine = {each.address: each for each in neutron.of_project(lease.project_id)
                if _is_of(each, reservation)}
        for address in sorted(set(mine) - set(wanted)):
            _take_back(neutron, mine.pop(address))
        for each in mine.values():
            # An earlier try may have broken off after the call that created it.
            self._tag(neutron, each, reservation)
        missing = [each for address, each in wanted.items() if address not in mine]
        if missing:
            self._check_quota(cloud, lease.project_id, len(missing))
        made = self._created(cloud, lease, reservation, missing)
        return {**reservation.binding, 'floating_ips': {
            each.address: each.id for each in sorted([*mine.values(), *made],
                                                     key=lambda each: each.address)}}

    def end(self, cloud, lease, reservation, resources):
        neutron = cloud.as_service().floating_ips
        places = {(each.facts['network_id'], each.facts['address'])
                  for each in _all_of(resources)}
        for each in neutron.of_project(lease.project_id):
            # Tags and description belong to the owner, who may have changed them.
            if (each.network_id, each.address) in places or _is_of(each, reservation):
                _take_back(neutron, each)

    def observe(self, cloud):
        return Observed(tuple(cloud.as_service().floating_ips.every()))

    def traces(self, observed):
        # Not signed: the owner of any floating IP may write these marks.
        return [audit.Trace(made_for, 'floating IP', each.address)
                for each in observed.floating_ips for made_for in sorted(_marks(each))]

    def lacks(self, observed, lease, reservation, resources):
        there = {(each.network_id, each.address): each for each in observed.floating_ips}
        found = []
        for each in _all_of(resources):
            address = each.facts['address']
            existing = there.get((each.facts['network_id'], address))
            if existing is None:
                found.append(audit.Drift(
                    'incomplete', f'reservation {reservation.id}', f'floating IP {address} is '
                    'missing', audit.COMPLETE, reservation.id))
            elif existing.project_id != lease.project_id:
                found.append(audit.Drift(
                    'incomplete', f'reservation {reservation.id}', f'floating IP {address} is in '
                    f'project {existing.project_id}, not in {lease.project_id}'))
        return found

    def complete(self, cloud, lease, reservation, resources):
        return self.start(cloud, lease, reservation, resources)

    def clear(self, cloud, made_for, resources):
        neutron = cloud.as_service().floating_ips
        for each in neutron.every():
            if made_for in _marks(each):
                _take_back(neutron, each)

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
                                       lease.project_id, _description(reservation.id))
            except errors.ResourceInUse as error:
                refused[each.name] = error.message
                continue
            self._tag(neutron, found, reservation)
            made.append(found)
        if refused:
            raise errors.ResourcesRefused(service='Neutron', refused=refused)
        return made

    def _tag(self, neutron, floating_ip, reservation):
        tags = (self.conf[self.resource_type].tag, f'{_TAG}{reservation.id}')
        if not set(tags) <= set(floating_ip.tags):
            neutron.tag(floating_ip.id, tags)

    def _check_quota(self, cloud, project_id, more):
        """Refuse more floating IPs than the quota of a project has left."""
        found = cloud.as_service().networks.quota(project_id, 'floatingip')
        if found.limit is not None and found.used + more > found.limit:
            raise errors.Conflict(reason=(
                f'Your quota "floatingip" in Neutron is {found.limit}, of which {found.used} are '
                f'used: {more} more do not fit. Delete floating IPs, or ask for a greater '
                'quota.'))


@dataclasses.dataclass(frozen=True)
class Observed:
    """What is compared: all FloatingIPs."""

    floating_ips: tuple


def _exactly(count):
    return selection.Demand(amount=selection.WHOLE, at_least=count, at_most=count,
                            spread=selection.Spread.APART)


def _required(request):
    """Return the required addresses in canonical form.

    :raises BadField: one is malformed or there twice, or there are too many.
    """
    found = [str(address_pool.parse('required_floatingips', each))
             for each in request.get('required_floatingips') or ()]
    twice = next((each for each in found if found.count(each) > 1), None)
    if twice is not None:
        raise errors.BadField(field='required_floatingips', reason=f'{twice} is there twice.')
    if len(found) > request['amount']:
        raise errors.BadField(field='required_floatingips', reason=(
            f'there are {len(found)} addresses, but amount is {request["amount"]}.'))
    return found


def _refuse_changes(before, network_id, required):
    """Refuse what a stored reservation cannot change."""
    if network_id != before.request['network_id']:
        raise errors.Conflict(reason='network_id: a reservation keeps its network; make another '
                                     'reservation instead.')
    if _runs(before) and required and required != list(before.request['required_floatingips']):
        raise errors.Conflict(reason='required_floatingips: a reservation that has started can '
                                     'only give them up, with [].')


def _runs(reservation):
    return reservation.state != lifecycle.RESERVATION_PENDING


def _kept(before):
    """Return the addresses that a reservation keeps although it names none any more."""
    return before.request[_KEPT] if _runs(before) else []


def _all_of(resources):
    return [each for found in resources.values() for each in found]


def _description(reservation_id):
    return f'{_MARK}{reservation_id}'


def _marks(floating_ip):
    """Return the ids of the reservations that a FloatingIP names, as a set.

    The description is there from the first call on, the tags after a second one.
    """
    texts = (*floating_ip.tags, floating_ip.description)
    return {each.removeprefix(mark) for each in texts for mark in (_TAG, _MARK)
            if each.startswith(mark)}


def _is_of(floating_ip, reservation):
    """Return whether a FloatingIP of the owner's project was made for a reservation."""
    return (floating_ip.id in reservation.binding.get('floating_ips', {}).values()
            or reservation.id in _marks(floating_ip))


def _take_back(neutron, floating_ip):
    """Take a FloatingIP off its port, so that no traffic of the owner follows, and delete it."""
    if floating_ip.port_id is not None:
        neutron.detach(floating_ip.id)
    neutron.delete(floating_ip.id)
    LOG.info('Floating IP %s (%s): deleted', floating_ip.address, floating_ip.id)
