# SPDX-License-Identifier: Apache-2.0
"""Leases that Climate creates after a move from Blazar."""
import datetime

from support import builders

#: After all leases of Blazar except for those of January.
LATER = datetime.datetime(2026, 12, 10, 12, 0, tzinfo=datetime.UTC)


def later(*reservations, start=LATER):
    """A LeaseRequest for two hours from LATER on."""
    return builders.a_lease(*reservations, start=start, end=start + builders.hours(2))
