# SPDX-License-Identifier: Apache-2.0
"""The status words of leases, from REST 1.1 on, of leased servers, and of resources."""

LEASE = ('inactive', 'to_be_started', 'in_progress', 'starting', 'active', 'updating',
         'terminating', 'terminated', 'deleting', 'timedout', 'error')
# Never sent by the service: stands for a lease that is not found any more.
DELETED = 'deleted'
# The lease does not have its resources yet.
ACQUIRING = 'in_progress'
# A lease does not become active from these by itself.
FAILED = frozenset({'error', 'timedout'})
PAST = frozenset({'terminated', 'timedout', DELETED})
LIVING = tuple(word for word in LEASE if word not in PAST)
OVER = frozenset({'terminated', 'terminating', 'deleting'})

# The metadata of the server has the first two words in capitals, as Nova writes statuses.
RESERVED = 'reserved'
ACTIVE = 'active'
ENDING = 'ending'
ENDED = 'ended'
ERROR = 'error'
SERVER = (RESERVED, ACTIVE, ENDING, ENDED, ERROR)

# {state of a resource, or figure of utilisation: its words for people, if they differ}
_OF_RESOURCES = {'out_of_order': 'out of service', 'quarantined': 'in quarantine'}


def of_resource(state: str) -> str:
    """Return the words for people of the state of a resource, or of a figure of utilisation."""
    return _OF_RESOURCES.get(state, state.replace('_', ' '))
