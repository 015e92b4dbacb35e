# SPDX-License-Identifier: Apache-2.0
"""The behaviour of a pool by itself."""
from climate import errors
from climate.domain import records
from climate.plugins import base


class Shelf(base.Pool):
    """A pool of two things, one of which is there twice."""

    name = 'shelf'

    def discover(self, cloud, name):
        if name == 'gone':
            raise errors.ResourceNotFound(pool=self.name, resource=name)
        if name == 'twice':
            raise errors.ResourceAmbiguous(pool=self.name, resource=name)
        return base.Found(name=name, capacity={'units': 1}, facts={})


def test_a_survey_asks_for_one_after_the_other_unless_the_pool_knows_better():
    known = [records.Resource(place, 'shelf', name, {})
             for place, name in enumerate(('here', 'gone', 'twice'))]
    assert Shelf(None).survey(None, known) == {
        'here': base.Found(name='here', capacity={'units': 1}, facts={})}
