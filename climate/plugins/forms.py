# SPDX-License-Identifier: Apache-2.0
"""Resource types whose requests have several forms, with one plugin class for each form."""
import abc
import functools
import inspect
from typing import ClassVar

from climate.plugins import base


class SeveralForms(base.ResourcePlugin):
    """A type with several forms of a request, such as a new volume and an existing one.

    Each form is a ResourcePlugin, too. Every method of the contract with a parameter `request` or
    `reservation` calls the same method of the form of that request. The type itself defines the
    other methods, such as `observe` and `clear`.
    """

    #: The plugin classes of the forms.
    form_classes: ClassVar[tuple[type[base.ResourcePlugin], ...]] = ()

    def __init__(self, conf):
        super().__init__(conf)
        self._forms = {form: form(conf) for form in self.form_classes}

    @classmethod
    @abc.abstractmethod
    def form(cls, request):
        """Return the form's class for a request, resolved or not. Pure."""


def _forwarding(name, method):
    """Return a method that calls the method `name` of the form that a parameter determines.

    None if the method has no parameter `request` or `reservation`.
    """
    is_of_class = isinstance(method, classmethod)
    function = method.__func__ if is_of_class else method
    names = list(inspect.signature(function).parameters)
    key = next((key for key in ('reservation', 'request') if key in names), None)
    if key is None:
        return None

    @functools.wraps(function, updated=())
    def call_form(owner, *args, **kwargs):
        subject = kwargs[key] if key in kwargs else args[names.index(key) - 1]
        form = owner.form(getattr(subject, 'request', subject))
        return getattr(form if is_of_class else owner._forms[form], name)(*args, **kwargs)
    return classmethod(call_form) if is_of_class else call_form


for _name in dir(base.ResourcePlugin):
    _method = inspect.getattr_static(base.ResourcePlugin, _name)
    if inspect.isfunction(_method) or isinstance(_method, classmethod):
        _forwarded = _forwarding(_name, _method)
        if _forwarded is not None:
            setattr(SeveralForms, _name, _forwarded)
abc.update_abstractmethods(SeveralForms)
