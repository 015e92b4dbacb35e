# SPDX-License-Identifier: Apache-2.0
"""A type with several forms calls the form of each request and reservation."""
import inspect

from climate.domain import records
from climate.plugins import base
from climate.plugins import forms


class Small(base.ResourcePlugin):
    """A form that needs nothing."""

    def needs(self, request):
        return []

    def start(self, cloud, lease, reservation, resources):
        return {'started': 'small'}

    def end(self, cloud, lease, reservation, resources):
        """Do nothing."""


class Large(Small):
    """A form with another start and other fields."""

    def start(self, cloud, lease, reservation, resources):
        return {'started': 'large'}

    @classmethod
    def asked(cls, request):
        return {'size': 'large'}


class Sized(forms.SeveralForms):
    """A type with both forms."""

    form_classes = (Small, Large)

    @classmethod
    def form(cls, request):
        return Large if request['size'] == 'large' else Small


def test_a_type_calls_the_form_of_the_request_or_of_the_reservation():
    plugin = Sized(None)
    large = records.Reservation('r', 'l', 'sized', {'size': 'large'})
    small = records.Reservation('r', 'l', 'sized', {'size': 'small', 'more': 1})
    assert plugin.start(None, None, large, {}) == {'started': 'large'}
    assert plugin.start(None, None, reservation=small, resources={}) == {'started': 'small'}
    assert Sized.asked(large.request) == {'size': 'large'}
    assert Sized.asked(small.request) == small.request
    assert Sized.fields(small) == small.request


def test_each_method_about_one_reservation_belongs_to_its_form():
    own = vars(forms.SeveralForms)
    for name, method in inspect.getmembers(base.ResourcePlugin, inspect.isroutine):
        if not name.startswith('_'):
            parameters = inspect.signature(method).parameters
            is_of_form = not {'request', 'reservation'}.isdisjoint(parameters)
            assert (name in own) == is_of_form, name
