# SPDX-License-Identifier: Apache-2.0
"""The root of all errors, and the families to which they belong."""
from typing import Any

#: The last sentence of an owner's message that leaves out the reason.
ASK_OPERATOR = ' Your operator can see why, by the id of the lease or of the request.'

#: Keyword arguments for owners: {argument: the operators' argument that it replaces}; None: the
#: whole message. They are never shown as details under these names.
_OWNERS = {'owner_message': None, 'owner_reason': 'reason', 'owner_nearest': 'nearest'}


class ConfigurationError(Exception):
    """The configuration cannot be used. The text has the option, the problem and the remedy.

    Programs print the text on one line and end with the exit status 1.
    """


class ClimateError(Exception):
    """The root of all errors. Show `message` or `owner_message`, never ``str(error)``.

    Both messages are the same unless the class has an `owner_template`, or the error has one of
    these keyword arguments: ``owner_message``, the whole message; ``owner_reason`` instead of
    ``reason``; ``owner_nearest`` instead of ``nearest``.

    The receiver of an error on the bus rebuilds it as ``klass(*args, **kwargs)``. Therefore
    ``__init__`` stores its keyword arguments. ``str(error)`` of a rebuilt error contains the
    traceback of the manager.
    """

    __module__ = 'climate.errors'
    status = 500
    code = 'internal_error'
    template = 'Climate failed with an internal error; the operator finds the reason in the log.'
    owner_template: str | None = None
    #: Names of details that only operators see.
    operators_details: frozenset[str] = frozenset()

    def __init_subclass__(cls) -> None:
        # The bus carries the name of the module, in which other releases look up the class.
        if cls.__module__.startswith('climate.errors.'):
            cls.__module__ = 'climate.errors'

    def __init__(self, message: str | None = None, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self.message = message or self.sentence(kwargs)
        super().__init__(self.message)

    @classmethod
    def sentence(cls, words):
        """Fill in the template with `words`."""
        return cls.template.format(**words)

    @property
    def owner_message(self) -> str:
        """The message for callers who may not read the operators' message."""
        if 'owner_message' in self.kwargs:
            return self.kwargs['owner_message']
        if 'owner_reason' in self.kwargs:
            return self.sentence({**self.kwargs, 'reason': self.kwargs['owner_reason']})
        if self.owner_template is not None:
            return self.owner_template.format(**self.kwargs)
        return self.message

    @property
    def details(self) -> dict[str, Any]:
        """The keyword arguments of the error, for programs, as a JSON-ready dict."""
        return {name: value for name, value in self.kwargs.items() if name not in _OWNERS}

    @property
    def owner_details(self) -> dict[str, Any]:
        """The details for callers who may not read the operators' details."""
        own = {_OWNERS[name]: value for name, value in self.kwargs.items()
               if _OWNERS.get(name) is not None}
        return {name: own.get(name, value) for name, value in self.details.items()
                if name not in self.operators_details or name in own}


def with_sentence(error: ClimateError, sentence: str, **more: Any) -> ClimateError:
    """Return a copy of an error, with a sentence added to both of its messages.

    :param more: details that are added.
    """
    kwargs = {**error.kwargs, **more, 'owner_message': f'{error.owner_message} {sentence}'}
    return type(error)(f'{error.message} {sentence}', **kwargs)


class BeginsWithNoun:
    """A mixin for a template that begins with an argument. It capitalizes the message."""

    @classmethod
    def sentence(cls, words):
        text = super().sentence(words)
        return text[:1].upper() + text[1:]


class BadRequest(ClimateError):
    status = 400
    code = 'bad_request'
    template = '{reason}'


class BadField(BadRequest):
    code = 'bad_field'
    template = '{field}: {reason}'


class Forbidden(ClimateError):
    status = 403
    code = 'forbidden'
    template = 'Policy does not allow {action} to be performed with these roles.'


class NotFound(ClimateError):
    status = 404
    code = 'not_found'
    template = '{what} was not found.'


class Conflict(ClimateError):
    status = 409
    code = 'conflict'
    template = '{reason}'


class LimitReached(Conflict):
    """The project has reached a limit of Climate, or a quota of another service.

    ``details`` of a quota: ``limit``, such as "neutron.floatingip", and ``reason``.

    :ivar limit: the name of the limit, if the class is for one limit.
    """

    code = 'limit_reached'
    limit: str | None = None

    @property
    def limit_name(self) -> str:
        """The name of the limit, for notifications that it was reached."""
        return str(self.limit or self.kwargs['limit'])
