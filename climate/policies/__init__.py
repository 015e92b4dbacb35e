# SPDX-License-Identifier: Apache-2.0
"""The documented policy rules, one file a noun."""
import itertools

from climate.policies import allocations
from climate.policies import availability
from climate.policies import base
from climate.policies import hosts
from climate.policies import leases
from climate.policies import offers
from climate.policies import reservations
from climate.policies import servers
from climate.policies import services


def list_rules():
    """Every rule with its default, for the enforcer and for the sample policy."""
    return list(itertools.chain(base.list_rules(), leases.list_rules(), hosts.list_rules(),
                                allocations.list_rules(), reservations.list_rules(),
                                servers.list_rules(), services.list_rules(), offers.list_rules(),
                                availability.list_rules()))
