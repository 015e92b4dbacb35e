# SPDX-License-Identifier: Apache-2.0
"""The story of a course: one lease with all that a stack needs, and the stack that uses it."""
import datetime
import json

from climate.cloud.simulated import neutron
from climate.plugins.network import segment_pool
from tools.demo import stage as stages

_DAY = datetime.timedelta(days=1)
_ADDRESSES = '172.24.4.210-172.24.4.213'
_SEGMENT = 'physnet1:vlan:3000'
# One server for each student, on the hosts that the hint names.
_TEMPLATE = {
    'heat_template_version': '2021-04-16',
    'parameters': {'hints': {'type': 'json', 'default': {}},
                   'network': {'type': 'string', 'default': 'private'}},
    'resources': {'students': {'type': 'OS::Heat::ResourceGroup', 'properties': {
        'count': 3, 'resource_def': {'type': 'OS::Nova::Server', 'properties': {
            'flavor': '2', 'scheduler_hints': {'get_param': 'hints'},
            'networks': [{'network': {'get_param': 'network'}}]}}}}},
}
# So soon it starts in the end; what must be seen before is seen in less than half of that.
_AHEAD_SECONDS = 4
_LASTS_SECONDS = 10


def play(stage):
    """Every step prints what it does and proves what it says."""
    data = _prepare(stage)
    lease = _ask(stage, data)
    _starts(stage, lease)
    _use(stage, lease, data)
    _ends(stage, lease, data)


def _prepare(stage):
    """Return the id of the teacher's volume."""
    stages.step('An administrator enrols four addresses and a VLAN. A teacher has a volume with '
                'the data of last term.')
    stage.climate('address', 'create', _ADDRESSES, '--field', f'network_id={neutron.PUBLIC}')
    listed = stage.climate('address', 'list', '-f', 'json')
    stages.check(len(listed) == 4, f'{len(listed)} addresses can be leased')
    stage.climate('segment', 'create', _SEGMENT)
    with stage.user() as teacher:
        data = teacher.volumes.create('last-term', 20, 'ordinary', {})
    stages.check(True, f'volume {data}')
    return data


def _ask(stage, data):
    monday = _next_monday()
    stages.step('The teacher asks for next Monday, 9:00 to 17:00: two hosts, a network with a '
                'router, three addresses, the volume, of which a copy is made at the end, and a '
                'stack that uses them.')
    lease = stage.climate(
        'lease', 'create', 'course', '--start', f'{monday:%Y-%m-%dT%H:%M:%SZ}',
        '--duration', '8h', '--reservation', 'type=physical:host,min=2,label=hosts',
        '--reservation', 'type=virtual:network,subnet=10.42.0.0/24,router=true,'
        f'external_network={neutron.PUBLIC},label=lab',
        '--reservation', f'type=virtual:floatingip,network_id={neutron.PUBLIC},amount=3,'
        'label=addresses',
        '--reservation', f'type=virtual:volume,resource_id={data},on_end=image,label=data',
        '--reservation', f'type=virtual:stack,template={json.dumps(_TEMPLATE)},'
        'hint_parameter=hints,lease_parameters={"network": "lab.network_id"},'
        'depends_on=[hosts,lab,addresses,data]', '-f', 'json')
    stages.check(lease['status'] == 'inactive',
                 f'the lease is {lease["status"]} until {lease["start"]}')
    told = stage.refused('lease', 'create', 'party', '--start', lease['start'], '--duration', '1h',
                         '--reservation', f'type=virtual:floatingip,network_id={neutron.PUBLIC},'
                         'amount=2')
    stages.check('Only 1 of 2 addresses are free' in told, told)
    _show(stage)
    return lease


def _starts(stage, lease):
    stages.step('Nobody here waits for Monday: the teacher moves all of it at once to a moment '
                'that is near.')
    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=_AHEAD_SECONDS)
    end = start + datetime.timedelta(seconds=_LASTS_SECONDS)
    stage.climate('lease', 'set', 'course', '--start', start.isoformat(timespec='seconds'),
                  '--end', end.isoformat(timespec='seconds'))
    stages.check(not stage.cloud.stacks(), 'nothing of it is in the cloud yet')
    stages.check(stages.soon(lambda: stage.cloud.stacks()), 'it starts by itself')
    stages.check(len(stage.cloud.network.floating_ips()) == 3,
                 'the addresses were there before the stack')
    lab = _lab(stage.cloud)
    stages.check(lab and lab.project_id == 'demo',
                 f'so was the network on {_SEGMENT}, which is of the project of the course')
    stage.climate('lease', 'wait', 'course')
    _show(stage)
    hosts = stage.cloud.as_service().nova.aggregate(lease['reservations'][0]['id']).hosts
    servers = _students(stage.cloud)
    stages.check({each.host for each in servers} <= set(hosts),
                 f'the servers of {len(servers)} students run on {" and ".join(sorted(hosts))}')


def _use(stage, lease, data):
    stages.step('A student gives the server an address, and the data of last term.')
    cloud = stage.cloud
    server, address = _students(cloud)[0], cloud.network.floating_ips()[0]
    stages.check(address.project_id == 'demo', f'{address.address} is in the project of the course')
    cloud.network.associate(address.address, f'port of {server.id}')
    with stage.user() as teacher:
        teacher.attachments.attach_volume(server.id, data)
    volume = cloud.as_service().volumes.volume(data)
    stages.check(server.id in volume.server_ids, f'{server.name} has volume {volume.name}')


def _ends(stage, lease, data):
    stages.step('The lease ends by itself: first the stack, then what it used.')
    stages.check(stages.soon(lambda: not stage.cloud.stacks()), 'the stack is gone')
    stage.climate('lease', 'wait', 'course', '--status', 'terminated')
    cloud = stage.cloud
    stages.check(not _students(cloud), 'its servers are gone')
    stages.check(not cloud.network.floating_ips(), 'the addresses are free for others')
    stages.check(_lab(cloud) is None, 'so is the VLAN')
    volume = cloud.as_service().volumes.volume(data)
    stages.check((volume.status, volume.project_id) == ('available', 'demo'),
                 'the volume is as it was')
    copies = [each for each in cloud.images() if lease['reservations'][3]['id'] in str(each)]
    stages.check([each['project_id'] for each in copies] == ['demo'],
                 'a copy of it, made at the end, belongs to its owner')
    stages.check(stages.soon(lambda: not cloud.as_service().keystone.trusts()),
                 'no trust is left')


def _show(stage):
    """Print the reservations of the course."""
    lease = stage.climate('lease', 'show', 'course', '-f', 'json')
    for each in lease['reservations']:
        print(f'     {each["resource_type"]:<20} {each["status"]}')


def _students(cloud):
    return [each for each in cloud.servers('demo') if each.name.startswith('students')]


def _lab(cloud):
    """Return the SegmentNetwork of the course, or None."""
    segment = segment_pool.parse('name', _SEGMENT)
    return next((each for each in cloud.as_service().segments.every()
                 if each.segment == segment), None)


def _next_monday():
    """Return the next Monday, 9:00 UTC."""
    today = datetime.datetime.now(datetime.UTC).replace(hour=9, minute=0, second=0, microsecond=0)
    return today + _DAY * (7 - today.weekday())
