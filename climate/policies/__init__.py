# SPDX-License-Identifier: Apache-2.0
"""The documented policy rules, one file for each noun."""
import itertools

from climate.policies import allocations
from climate.policies import audit
from climate.policies import availability
from climate.policies import base
from climate.policies import energy
from climate.policies import hosts
from climate.policies import leases
from climate.policies import maintenances
from climate.policies import offers
from climate.policies import plan
from climate.policies import price_books
from climate.policies import reservations
from climate.policies import servers
from climate.policies import services
from climate.policies import statements
from climate.policies import subscriptions
from climate.policies import timeline
from climate.policies import usage


def list_rules():
    """Return the rules that do not depend on the enabled pools, with their defaults.

    ``climate.policies.resources`` makes those of the pools.
    """
    return list(itertools.chain(base.list_rules(), leases.list_rules(), hosts.list_rules(),
                                allocations.list_rules(), reservations.list_rules(),
                                servers.list_rules(), services.list_rules(), offers.list_rules(),
                                availability.list_rules(), maintenances.list_rules(),
                                usage.list_rules(), plan.list_rules(),
                                price_books.list_rules(), statements.list_rules(),
                                subscriptions.list_rules(), energy.list_rules(),
                                timeline.list_rules(), audit.list_rules()))
