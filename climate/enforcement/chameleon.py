# SPDX-License-Identifier: Apache-2.0
"""The dialect of the portal of Chameleon, which charges when it is asked."""
from climate.enforcement import blazar


class Chameleon(blazar.Blazar):
    """The portal finds a charge by the id of the reservation, and reads su_factor and vcpus."""

    suffix = '/'

    def lease(self, lease):
        return {**lease, 'reservations': [
            {**reservation, 'allocations': [
                _with_factor(allocation) for allocation in reservation['allocations']]}
            for reservation in lease['reservations']]}


def _with_factor(allocation):
    """Return an allocation with the property su_factor of its resource as a number, if it is one.

    Without the property, a resource counts once.
    """
    try:
        factor = float(allocation['extra'].get('su_factor', 1))
    except ValueError:
        factor = 1.0
    return {**allocation, 'su_factor': factor}
