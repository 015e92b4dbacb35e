# SPDX-License-Identifier: Apache-2.0
"""The contract of a notifier, which sends notifications to their subscribers."""
import abc
import contextlib
import dataclasses


class Undelivered(Exception):
    """A notification was not accepted; the text is the reason, for the log of the subscription.

    :ivar permanent: the same notification will never be accepted, so it is given up.
    :ivar counts: the receiver is at fault. After many such failures its subscription is switched
        off.
    """

    def __init__(self, reason, permanent=False, counts=True):
        super().__init__(reason)
        self.permanent = permanent
        self.counts = counts


class Down(Undelivered):
    """The notifier can send to nobody now; no receiver is at fault."""

    def __init__(self, reason):
        super().__init__(reason, counts=False)


@dataclasses.dataclass(frozen=True)
class Message:
    """One notification for one subscriber.

    :ivar id: the same at every attempt, so that a receiver can drop duplicates.
    :ivar address: the mail address or URL of the subscription.
    :ivar secret: the key that signs it, or None.
    :ivar body: the content, as JSON-ready data: id, kind, headline, at, lease and more.
    """

    id: str
    address: str
    secret: str | None
    body: dict

    def __repr__(self):
        # A log line or a traceback must not contain the secret.
        return f'Message({self.id})'


class Notifier(abc.ABC):
    """A transport of notifications, such as mail. The entry point has its name.

    :ivar has_secret: each of its subscriptions has a secret that signs the notifications.
    """

    has_secret = False

    def __init__(self, conf):
        self._conf = conf

    @property
    def workers(self):
        """The number of messages that may be sent at the same time."""
        return 1

    @abc.abstractmethod
    def check(self):
        """Check the configuration.

        :raises ConfigurationError: it cannot be used; the text names the option.
        """

    def template_problems(self):
        """Return the errors of the operator's templates, as sentences."""
        return []

    @abc.abstractmethod
    def checked(self, address):
        """Return the address of a new subscription in its proper form; nothing is sent.

        :raises BadField: it cannot be used; the error says why.
        """

    @contextlib.contextmanager
    def session(self):
        """Yield a function that sends one Message; its connections are closed after the block.

        The function raises Undelivered if the message was not accepted.
        """
        yield self.send

    def send(self, message):
        """Send one Message.

        :raises Undelivered: it was not accepted.
        """
        raise NotImplementedError
