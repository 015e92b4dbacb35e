# SPDX-License-Identifier: Apache-2.0
"""The steps of users with addresses, networks, volumes, stacks and clusters."""
import dataclasses
import uuid

from hypothesis import stateful
from hypothesis import strategies as st
import model_base as base
import model_offers
import model_requests as requests
import model_types

from climate.cloud.simulated import neutron
from climate.domain import records

_MOST_OWN = 3
_TEMPLATE = {'heat_template_version': '2021-04-16'}
_WORD = {**_TEMPLATE, 'resources': {'word': {'type': 'OS::Heat::RandomString'}}}


def asked(resource_type, **request):
    """Return the ReservationRequest for something of a type."""
    return records.ReservationRequest(resource_type, request)


def _addresses(amount, required):
    return asked('virtual:floatingip', network_id=neutron.PUBLIC, amount=amount,
                 required_floatingips=required[:amount])


def _volumes(size_gb, amount, give, on_end):
    return asked('virtual:volume', size_gb=size_gb, amount=1 if give == 'type' else amount,
                 give=give, on_end=on_end)


def _network(segment, inside, on_end):
    return asked('virtual:network', required_segment=segment, on_end=on_end, **inside)


def _stack(count):
    """Return a stack without servers, or with servers that fit on the hosts."""
    if not count:
        return asked('virtual:stack', template=_WORD)
    server = {'type': 'OS::Nova::Server', 'properties': {'flavor': {'get_param': 'size'}}}
    return asked('virtual:stack', flavor_parameter='size', template={
        **_TEMPLATE, 'parameters': {'size': {'type': 'string', 'default': 'm1.small'}},
        'resources': {f'server{number}': server for number in range(count)}})


def _cluster(node_count):
    return asked('virtual:cluster', cluster_template_id='kubernetes', node_count=node_count)


#: {type: the requests for it}.
KINDS = {
    'virtual:floatingip': st.builds(
        _addresses, st.integers(1, 3),
        st.sampled_from([[], [], ['172.24.4.210'], ['172.24.4.213', '172.24.4.212']])),
    'virtual:volume': st.builds(
        _volumes, st.sampled_from([40, 100, 150]), st.integers(1, 2),
        st.sampled_from(['volumes', 'volumes', 'type']),
        st.sampled_from(['delete', 'image', 'image'])),
    'virtual:network': st.builds(
        _network, st.sampled_from([None, None, 'physnet1:vlan:3001']),
        st.sampled_from([{}, {'subnet': '10.42.0.0/24'}, {
            'subnet': '10.42.0.0/24', 'router': True, 'external_network': neutron.PUBLIC}]),
        st.sampled_from(['delete', 'delete', 'wait'])),
    'virtual:stack': st.builds(_stack, st.integers(0, 2)),
    'virtual:cluster': st.builds(_cluster, st.integers(1, 3)),
}
_ANY = st.one_of(*KINDS.values())
_ON_END = {'virtual:volume': ['keep', 'image', 'snapshot'],
           'virtual:stack': ['suspend', 'leave', 'suspend']}
_TERMS = st.one_of(
    st.builds(lambda pause: {'type': 'retries', 'retries': 3, 'retry_pause_seconds': pause},
              st.sampled_from([5, 60])),
    st.just({'type': 'wait', 'not_after': 20, 'priority': 0}))


class Types(model_offers.Offers):
    """The steps of users with leases of all types."""

    @base.rule(side=base.SIDE, asked=_ANY, later=requests.LATER, long=requests.LONG)
    def lease_something_else(self, side, asked, later, long):
        self.create(side, [asked], later, long)
        self.tally[f'asked for {asked.resource_type}'] += 1

    @base.rule(side=base.SIDE, asked=st.lists(st.one_of(_ANY, _ANY, requests.HOSTS), min_size=2,
                                              max_size=4), later=requests.LATER,
               long=requests.LONG, ordered=st.booleans())
    def lease_things_that_belong_together(self, side, asked, later, long, ordered):
        """In an order, if asked: each needs the one before it."""
        asked = [dataclasses.replace(each, label=f'n{place}', depends_on=(
            (f'n{place - 1}',) if ordered and place else ()))
            for place, each in enumerate(asked)]
        self.create(side, asked, later, long)

    @base.rule(side=base.SIDE, asked=_ANY, terms=_TERMS, long=requests.LONG)
    def wait_for_something_else(self, side, asked, terms, long):
        self.seek(side, asked, terms, long)

    @stateful.precondition(lambda self: len(self.own) < _MOST_OWN)
    @base.rule(kind=st.sampled_from(sorted(model_types.OWN)))
    def a_user_makes_something_without_a_lease(self, kind):
        own_id = str(uuid.uuid4())
        with self.world.cloud.state() as connection:
            if kind == 'virtual:volume':
                connection.execute(
                    'INSERT INTO volumes (id, name, size_gb, status, project_id, type_name, '
                    "backend, metadata) VALUES (?, 'mine', 10, 'available', 'demo', 'ordinary', "
                    "'ordinary@plain#plain', '{}')", (own_id,))
            elif kind == 'virtual:network':
                connection.execute("INSERT INTO networks VALUES (?, 'mine', 'demo', 0)", (own_id,))
            else:
                connection.execute(
                    "INSERT INTO stacks VALUES (?, ?, 'demo', 'CREATE', 'COMPLETE', '', NULL, "
                    "NULL, '')", (own_id, f'mine-{own_id}'))
        self.own[own_id] = model_types.OWN[kind]

    @stateful.precondition(lambda self: self._leasable())
    @base.rule(side=base.SIDE, which=base.WHICH, ending=st.integers(0, 2), later=requests.LATER,
               long=requests.LONG)
    def lease_what_a_user_has(self, side, which, ending, later, long):
        own_id, kind = self.pick(self._leasable(), which)
        self.create(side, [asked(kind, resource_id=own_id, on_end=_ON_END[kind][ending])], later,
                    long)

    def _leasable(self):
        """Return the pairs (id, type) of what users have and may lease."""
        return [(own_id, kind) for own_id, table in sorted(self.own.items()) for kind in _ON_END
                if table == model_types.OWN[kind]]

    @stateful.precondition(lambda self: self.own)
    @base.rule(which=base.WHICH)
    def a_user_deletes_what_it_has(self, which):
        self._delete(self.pick(sorted(self.own), which))

    def delete_what_users_have(self):
        for own_id in sorted(self.own):
            self._delete(own_id)

    def _delete(self, own_id):
        with self.world.cloud.state() as connection:
            connection.execute(f'DELETE FROM {self.own.pop(own_id)} WHERE id = ?', (own_id,))
            connection.execute('DELETE FROM network_segments WHERE network_id = ?', (own_id,))
            connection.execute('DELETE FROM ports WHERE id IN (SELECT port_id FROM port_devices '
                               'WHERE device_id = ?)', (own_id,))
