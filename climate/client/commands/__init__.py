# SPDX-License-Identifier: Apache-2.0
"""Every command by its words. In ``openstack`` each has "reservation" before it."""

TABLE = {
    'allocation list': 'climate.client.commands.allocation:ListAllocations',
    'allocation show': 'climate.client.commands.allocation:ShowAllocation',
    'availability': 'climate.client.commands.availability:FindAvailability',
    'host create': 'climate.client.commands.host:CreateHost',
    'host delete': 'climate.client.commands.host:DeleteHosts',
    'host list': 'climate.client.commands.host:ListHosts',
    'host set': 'climate.client.commands.host:SetHost',
    'host show': 'climate.client.commands.host:ShowHost',
    'lease create': 'climate.client.commands.lease:CreateLease',
    'lease delete': 'climate.client.commands.lease:DeleteLeases',
    'lease end': 'climate.client.commands.lease:EndLease',
    'lease explain': 'climate.client.commands.lease:ExplainLease',
    'lease extend': 'climate.client.commands.lease:ExtendLease',
    'lease list': 'climate.client.commands.lease:ListLeases',
    'lease set': 'climate.client.commands.lease:SetLease',
    'lease show': 'climate.client.commands.lease:ShowLease',
    'lease wait': 'climate.client.commands.lease:WaitLease',
    'property list': 'climate.client.commands.property:ListProperties',
    'property set': 'climate.client.commands.property:SetProperty',
    'property unset': 'climate.client.commands.property:UnsetProperty',
    'server lease': 'climate.client.commands.server:LeaseServer',
    'server list': 'climate.client.commands.server:ListServers',
    'service list': 'climate.client.commands.service:ListServices',
}
