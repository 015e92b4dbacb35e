# SPDX-License-Identifier: Apache-2.0
"""The contract of a notifier, which sends notifications to their subscribers."""
import abc
import contextlib
import dataclasses


class Undelivered(Exception):
    """A notification was not accepted. The text is the reason, for the log of the subscription.

    :ivar permanent: whether to give up the notification, because it will never be accepted.
    :ivar counts: whether the receiver is at fault. After many such failures the subscription is
        switched off.
    """

    def __init__(self, reason, permanent=False, counts=True):
        super().__init__(reason)
        self.permanent = permanent
        self.counts = counts


class Down(Undelivered):
    """The notifier cannot send any notification now. No receiver is at fault."""

    def __init__(self, reason):
        super().__init__(reason, counts=False)


@dataclasses.dataclass(frozen=True)
class Message:
    """One notification for one subscriber.

    :ivar id: an id that is the same at every attempt, so that a receiver can drop duplicates.
    :ivar address: the mail address or URL of the subscription.
    :ivar secret: the key that signs the notification, or None.
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
    """A transport of notifications, such as mail. The name of the entry point names the transport.

    :ivar has_secret: whether each subscription has a secret that signs its notifications.
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

        :raises ConfigurationError: an option cannot be used; the text names the option.
        """

    def template_problems(self):
        """Return the errors of the operator's templates, as sentences."""
        return []

    @abc.abstractmethod
    def checked(self, address):
        """Check the address of a new subscription without sending; return the address to store.

        :raises BadField: the address cannot be used; the error has the reason.
        """

    @contextlib.contextmanager
    def session(self):
        """Yield a function that sends one Message. Connections are closed after the block.

        The function raises Undelivered if the message was not accepted.
        """
        yield self.send

    def send(self, message):
        """Send one Message.

        :raises Undelivered: the message was not accepted.
        """
        raise NotImplementedError
