# SPDX-License-Identifier: Apache-2.0
"""The extra specs of Cinder's volume types that Climate reads and writes."""

#: The extra spec that names the back end of the volumes of a type.
BACKEND_SPEC = 'volume_backend_name'
#: The extra spec with the availability zones of the volumes of a type. Without it a new volume is
#: only in the zone that is asked for, or in the default zone of Cinder.
ZONES_SPEC = 'RESKEY:availability_zones'
