# SPDX-License-Identifier: Apache-2.0
"""List leases and hosts with apache-libcloud, and print them as JSON."""
import json
import os
import sys

from libcloud.compute import providers
from libcloud.compute import types

if __name__ == '__main__':
    driver = providers.get_driver(types.Provider.OPENSTACK)(
        os.environ['OS_USERNAME'], os.environ['OS_PASSWORD'], api_version='2.2',
        ex_force_auth_version='3.x_password',
        ex_force_auth_url=os.environ['OS_AUTH_URL'].removesuffix('/v3'),
        ex_tenant_name=os.environ['OS_PROJECT_NAME'], ex_force_service_region='RegionOne',
        ex_domain_name='Default')
    print(json.dumps({
        'leases': [[each.id, each.name, each.status, str(each.start), str(each.end),
                    [part['resource_type'] for part in each.reservations]]
                   for each in driver.ex_list_leases()],
        'hosts': [] if '--leases' in sys.argv else [
            [each.id, each.hypervisor_hostname, each.vcpus, each.memory_mb, each.local_gb]
            for each in driver.ex_list_hosts()]}))
