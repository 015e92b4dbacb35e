# SPDX-License-Identifier: Apache-2.0
"""The addresses, volumes and attachments of simulated stacks.

Other parts, except servers, have no effect on the simulated cloud.
"""
import ipaddress
import json
import uuid

from climate import errors
from climate.cloud import models
from climate.cloud.simulated import neutron
from climate.cloud.simulated import storage

_FLOATING_IP = 'OS::Neutron::FloatingIP'
_ASSOCIATION = 'OS::Neutron::FloatingIPAssociation'
_VOLUME = 'OS::Cinder::Volume'
_ATTACHMENT = 'OS::Cinder::VolumeAttachment'


def make(connection, project_id, part, server_ids):
    """Create the object of a StackPart; return its id, or None if the part has no effect.

    :param server_ids: {name of a part: id of its server}.
    :raises CloudError: it cannot be created; the reason is that of the stack.
    """
    properties = part.properties
    if part.kind == _ASSOCIATION:
        return _associate(connection, project_id, str(properties.get('floatingip_id')))
    if part.kind == _ATTACHMENT:
        return _attach(connection, project_id, str(properties.get('volume_id')),
                       _server(properties.get('instance_uuid'), server_ids))
    if part.kind == _FLOATING_IP:
        return _take_address(connection, project_id, str(properties.get('floating_network')))
    if part.kind == _VOLUME:
        return _volume(connection, project_id, part)
    return None


def unmake(connection, row):
    """Remove the object of a row of stack_parts, as Heat does when it deletes a stack."""
    object_id = row['made_id']
    if row['kind'] == _ASSOCIATION:
        connection.execute('UPDATE floating_ips SET port_id = NULL WHERE id = ?', (object_id,))
    elif row['kind'] == _FLOATING_IP:
        connection.execute('DELETE FROM floating_ips WHERE id = ?', (object_id,))
    elif row['kind'] == _ATTACHMENT:
        connection.execute("UPDATE volumes SET status = 'available', server_id = NULL "
                           "WHERE id = ? AND status = 'in-use'", (object_id,))
    elif row['kind'] == _VOLUME:
        connection.execute('DELETE FROM volumes WHERE id = ?', (object_id,))


def _associate(connection, project_id, floating_ip_id):
    count = connection.execute(
        "UPDATE floating_ips SET port_id = 'port of a stack' WHERE id = ? AND project_id = ?",
        (floating_ip_id, project_id)).rowcount
    if not count:
        _refuse(f'Floating IP {floating_ip_id} could not be found')
    return floating_ip_id


def _attach(connection, project_id, volume_id, server_id):
    row = storage.find(connection, volume_id, project_id)
    if row is None or server_id is None:
        _refuse(f'The volume {volume_id} or its server could not be found.')
    if row['status'] != 'available':
        _refuse(f'Invalid volume: volume {volume_id} is {row["status"]}.')
    storage.put(connection, volume_id, status='in-use', server_id=server_id)
    return volume_id


def _take_address(connection, project_id, network):
    subnet = connection.execute(
        'SELECT networks.id AS network_id, pools FROM networks JOIN subnets '
        'ON subnets.network_id = networks.id WHERE ? IN (networks.id, networks.name)',
        (network,)).fetchone()
    if subnet is None:
        _refuse(f'External network {network} could not be found.')
    used = neutron.used(connection, subnet['network_id'])
    for first, last in json.loads(subnet['pools']):
        for number in range(int(ipaddress.ip_address(first)), int(ipaddress.ip_address(last)) + 1):
            address = str(ipaddress.ip_address(number))
            if address not in used:
                return neutron.create(connection, models.FloatingIP(
                    '', subnet['network_id'], address, project_id)).id
    return _refuse(f'No more IP addresses available on network {network}.')


def _volume(connection, project_id, part):
    type_name = part.properties.get('volume_type') or 'ordinary'
    if storage.find_type(connection, type_name, project_id) is None:
        _refuse(f'Volume type with name {type_name} could not be found.')
    volume_id = str(uuid.uuid4())
    connection.execute(
        'INSERT INTO volumes (id, name, size_gb, status, project_id, type_name, metadata, due, '
        "becomes) VALUES (?, ?, ?, 'creating', ?, ?, '{}', 0, 'available')",
        (volume_id, part.name, int(part.properties.get('size') or 1), project_id, type_name))
    return volume_id


def _server(value, server_ids):
    """Return the id of a server that a template names, itself or by get_resource."""
    name = value.get('get_resource') if isinstance(value, dict) else value
    return server_ids.get(name, name)


def _refuse(reason):
    raise errors.CloudError.plain('Heat', reason)
