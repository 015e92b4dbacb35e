# SPDX-License-Identifier: Apache-2.0
"""The database layer: every SQL statement of Climate.

A transaction that locks rows of several tables locks them in this order, to avoid deadlocks:

1. resources, in the order of their ids;
2. ``limit_owners``, in the order of their kinds and ids, if limits apply to the request;
3. offers, in the order of their ids. The lock of an offer covers its allocations.
4. leases, in the order of their ids. The lock of a lease covers its reservations, their
   allocations, its later asks, its own events and acquisition, and deletions from its history.
5. the wait queue (``wait_queue.lock``), before the events and acquisitions of other leases
   are written to wake the queue, and before the lease itself leaves the queue. This lock covers
   ``project_shares``, too;
6. events;
7. acquisitions. A transaction that has locked the wait queue may write them before events.

``swap_reports`` and ``series_occurrences`` are written after all of these.

The last statement of a transaction may lock a row of ``change_counts``, after all others.

``early_creations``, then ``trusts``, then ``enforcement_calls``, are locked last. A transaction
that has locked a row of them takes no further lock of the list above.

Other transactions lock nothing of the list above. They lock one of these sequences:

* rows of the outbox or the row of ``reminder_scans``, then ``subscriptions``, then ``deliveries``;
* ``billing_months`` in order, then ``bills``, then ``failed_bills``;
* ``owner_names``: a user, then a project;
* ``series``, then the leases of a series that is split, then ``series_occurrences``.

Rows that are only added (history, notifications, refusals) may be written at any time. If a
deadlock occurs in spite of this order, the transaction raises LostRace, and the caller repeats the
transaction.
"""
