# SPDX-License-Identifier: Apache-2.0
"""The words for how a lease stands, from REST 1.1 on, and for how a leased server does."""

LEASE = ('inactive', 'to_be_started', 'in_progress', 'starting', 'active', 'updating',
         'terminating', 'terminated', 'deleting', 'timedout', 'error')
# Not a word of the wire: what a lease is that is not found any more.
DELETED = 'deleted'
# Its resources are still being looked for.
SOUGHT = 'in_progress'
# No lease comes from here to active by itself.
FAILED = frozenset({'error', 'timedout'})
PAST = frozenset({'terminated', 'timedout', DELETED})
OVER = frozenset({'terminated', 'terminating', 'deleting'})

# The first two are also what the metadata of the server says.
RESERVED = 'RESERVED'
ACTIVE = 'ACTIVE'
ENDING = 'ENDING'
ENDED = 'ENDED'
ERROR = 'ERROR'
SERVER = (RESERVED, ACTIVE, ENDING, ENDED, ERROR)
