# SPDX-License-Identifier: Apache-2.0
"""The accounts: every statement that is made, and nothing else.

A transaction that locks rows of several kinds locks them in this order, so that no two wait for
each other:

1. resources, in the order of their ids;
2. offers, in the order of their ids; whoever has locked an offer may write its promises;
3. leases, in the order of their ids; whoever has locked a lease may write its reservations, their
   promises, and the events and the acquisition that are its own;
4. the line (``acquisitions.lock_line``), where others that wait are woken, that is where events and
   acquisitions of other leases are written, and where the lease itself waits no more;
5. events;
6. acquisitions. Whoever has locked the line may write them before events.

What is only added (history, notifications) comes wherever it fits. Where a database breaks a
deadlock all the same, the transaction is a lost race, and is repeated by whoever opened it.
"""
