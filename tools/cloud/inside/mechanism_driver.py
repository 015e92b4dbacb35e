# SPDX-License-Identifier: Apache-2.0
"""A mechanism driver for ML2 that binds every port, so that Neutron needs no agent."""
from neutron.services.trunk.drivers import base
from neutron_lib import constants
from neutron_lib.api.definitions import portbindings
from neutron_lib.plugins.ml2 import api


class TrunksEverywhere(base.DriverBase):
    """A driver for trunks that does nothing: the trunk plugin does not start without one."""

    is_loaded = True


class BindEverywhere(api.MechanismDriver):
    """Takes the first segment that is offered, on any host."""

    def initialize(self):
        """Make trunks possible; there is nothing else to prepare."""
        # Neutron's registry of callbacks keeps no reference.
        self._trunks = TrunksEverywhere(
            'trunks_everywhere', interfaces=(portbindings.VIF_TYPE_OVS,),
            segmentation_types=(constants.TYPE_VLAN,), can_trunk_bound_port=True)

    @property
    def connectivity(self):
        return portbindings.CONNECTIVITY_L2

    def bind_port(self, context):
        if context.segments_to_bind:
            context.set_binding(context.segments_to_bind[0][api.ID], portbindings.VIF_TYPE_OVS,
                                {'port_filter': False}, status=constants.PORT_STATUS_ACTIVE)
