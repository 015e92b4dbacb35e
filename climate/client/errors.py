# SPDX-License-Identifier: Apache-2.0
"""Everything the client raises, as one tree.

::

    ClientError
      BadValue               an argument that cannot be understood (nothing was sent)
      NotConfigured          which cloud to talk to is not known, or not fully
      Ambiguous              a name that several things have; ``ids`` lists them
      Unreachable            no answer came
      ServiceMissing         the catalogue of the cloud has no such service, or there is none
      LeaseFailed            the lease that was waited for will not get there
      WaitTimedOut           it has not got there yet
      AnswerUnreadable       an answer that is not what the service sends
      HttpError              the service refused; the classes below are by status
        BadRequest           400
        NotAuthenticated     401
        Forbidden            403
        NotFound             404
        NotAcceptable        406   the service does not speak REST 1.1
        Conflict             409   no room, or the state does not allow it
        StalePrecondition    412
        BodyTooLarge         413
        KeyReused            422
        TooMany              429
        ServerError          5xx
          CloudFailed        502
          Overloaded         503
          NoAnswerInTime     504

Each has ``message``, ``status``, ``name``, ``request_id`` and ``details``; the last four are None,
None, None and {} where there was no answer.
"""
from collections.abc import Mapping
from collections.abc import Sequence
import typing


class ClientError(Exception):
    """The root of all errors of this client; ``str()`` of it is the message."""

    def __init__(self, message: str, *, status: int | None = None, name: str | None = None,
                 request_id: str | None = None,
                 details: Mapping[str, typing.Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.name = name
        self.request_id = request_id
        self.details = dict(details or {})
        self.retry_after_seconds: float | None = None


class BadValue(ClientError, ValueError):
    """The message says what is expected, with an example."""


class NotConfigured(ClientError):
    """The message says which options to set."""


class Ambiguous(ClientError):
    def __init__(self, message: str, ids: Sequence[str]) -> None:
        super().__init__(message, details={'ids': list(ids)})
        self.ids = list(ids)


class Unreachable(ClientError):
    """Nobody knows whether the request was carried out."""


class ServiceMissing(ClientError):
    """The token is good, but nobody says where the service is; the message names the options."""


class LeaseFailed(ClientError):
    """``lease`` is the lease as it was last seen, None when it is gone."""

    def __init__(self, message: str, lease: Mapping[str, typing.Any] | None) -> None:
        super().__init__(message)
        self.lease = lease


class WaitTimedOut(ClientError):
    """``lease`` is the lease as it was last seen."""

    def __init__(self, message: str, lease: Mapping[str, typing.Any] | None) -> None:
        super().__init__(message)
        self.lease = lease


class AnswerUnreadable(ClientError):
    """Something else than a reservation service answers at that address."""


class HttpError(ClientError):
    """The service refused; see ``status``."""


class BadRequest(HttpError):
    pass


class NotAuthenticated(HttpError):
    pass


class Forbidden(HttpError):
    pass


class NotFound(HttpError):
    pass


class NotAcceptable(HttpError):
    pass


class Conflict(HttpError):
    pass


class StalePrecondition(HttpError):
    pass


class BodyTooLarge(HttpError):
    pass


class KeyReused(HttpError):
    pass


class TooMany(HttpError):
    pass


class ServerError(HttpError):
    pass


class CloudFailed(ServerError):
    pass


class Overloaded(ServerError):
    pass


class NoAnswerInTime(ServerError):
    pass


_BY_STATUS: dict[int, type[HttpError]] = {
    400: BadRequest,
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    406: NotAcceptable,
    409: Conflict,
    412: StalePrecondition,
    413: BodyTooLarge,
    422: KeyReused,
    429: TooMany,
    502: CloudFailed,
    503: Overloaded,
    504: NoAnswerInTime,
}


def class_of(status: int) -> type[HttpError]:
    """Which class stands for an HTTP status; 4xx without one of their own are HttpError."""
    return _BY_STATUS.get(status, ServerError if status >= 500 else HttpError)
