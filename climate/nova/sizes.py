# SPDX-License-Identifier: Apache-2.0
"""The resources that a server of a Nova flavor takes of its host, by resource class."""
import math

_MB = 1024
_RESOURCE = 'resources:'


def of(flavor):
    """Return {resource class: units} as Nova requests them from Placement.

    :param flavor: Nova's Flavor object of the server, or the one it is to be resized to.
    :returns: None if some fields of the flavor are not loaded.
    """
    names = ('vcpus', 'memory_mb', 'root_gb', 'ephemeral_gb', 'swap')
    if not flavor or not all(flavor.obj_attr_is_set(name) for name in names):
        return None
    specs = (flavor.extra_specs if flavor.obj_attr_is_set('extra_specs') else None) or {}
    processor = 'PCPU' if specs.get('hw:cpu_policy') == 'dedicated' else 'VCPU'
    found = {
        processor: flavor.vcpus, 'MEMORY_MB': flavor.memory_mb,
        'DISK_GB': flavor.root_gb + flavor.ephemeral_gb + math.ceil(flavor.swap / _MB)}
    return found | {key.removeprefix(_RESOURCE): int(text) for key, text in specs.items()
                    if key.startswith(_RESOURCE) and text.isdecimal()}
