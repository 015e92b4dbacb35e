# SPDX-License-Identifier: Apache-2.0
"""The documented policy rules, one file for each noun."""
from climate.policies import audit
from climate.policies import availability
from climate.policies import base
from climate.policies import energy
from climate.policies import hosts
from climate.policies import leases
from climate.policies import limit_books
from climate.policies import limits
from climate.policies import maintenances
from climate.policies import offers
from climate.policies import plans
from climate.policies import price_books
from climate.policies import reservations
from climate.policies import series
from climate.policies import servers
from climate.policies import services
from climate.policies import shares
from climate.policies import statements
from climate.policies import sub_leases
from climate.policies import subscriptions
from climate.policies import timeline
from climate.policies import transfers
from climate.policies import usage

_MODULES = (base, leases, shares, sub_leases, transfers, series, hosts, reservations, servers,
            services, offers, availability, maintenances, usage, limits, limit_books, plans,
            price_books, statements, subscriptions, energy, timeline, audit)


def list_rules():
    """Return the rules that do not depend on the enabled pools, with their defaults.

    ``climate.policies.resources`` has those of the pools.
    """
    return [rule for module in _MODULES for rule in module.RULES]
