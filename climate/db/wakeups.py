# SPDX-License-Identifier: Apache-2.0
"""Wake-ups: the commit of a transaction wakes the threads that process the rows that it wrote.

A wake-up may be lost, for example if a manager dies. Therefore each of these threads also polls.
"""
import threading
import weakref

#: The rows that wake threads: notifications of the outbox, those that are copied to the
#: subscriptions, and deliveries.
TOPICS = OUTBOX, COPIED, DELIVERIES = ('outbox', 'copied', 'deliveries')
_REQUESTED = 'climate.wakeups'


def after_commit(connection, topic):
    """Wake the threads of a topic when the transaction of this connection is committed."""
    connection.info.setdefault(_REQUESTED, set()).add(topic)


def requested(connection):
    """Return the topics that the transaction wakes, and forget them."""
    return connection.info.pop(_REQUESTED, ())


class Wakeups:
    """The waiting threads of this process, by topic.

    :ivar forward: a function that wakes other processes for a set of topics, or None.
    """

    def __init__(self):
        self._events = {topic: weakref.WeakSet() for topic in TOPICS}
        self.forward = None

    def event(self, topic):
        """Return a new threading.Event that is set at each wake-up; the caller clears it."""
        event = threading.Event()
        self._events[topic].add(event)
        return event

    def committed(self, topics):
        """Wake the threads of the topics of a transaction, here and in other processes.

        Other processes share the deliveries. For other topics, they are needed only if no thread
        of this process waits.
        """
        self.wake(topics)
        if topics and self.forward is not None:
            self.forward({topic for topic in topics
                          if topic == DELIVERIES or not self._events[topic]})

    def wake(self, topics=TOPICS):
        """Wake the threads of this process that wait for these topics."""
        for topic in topics:
            for event in tuple(self._events[topic]):
                event.set()
