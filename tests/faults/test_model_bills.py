# SPDX-License-Identifier: Apache-2.0
"""The steps of the model about bills lead to bills that its truths can judge."""
import model_bills
import model_points
import model_world
import pytest
import test_model

complaints, points = test_model.complaints, test_model.points


@pytest.fixture
def model(conf, tmp_path, migrated, points, complaints):
    model_world.configure(conf)
    database = model_points.copy_of(migrated, tmp_path, points)
    made = test_model.Model(conf, database, points, complaints)
    made.begin(mood='calm', hosts=4, cleaning=0, hold_room='required', crowd=0,
               refusals=model_world.MANY, month_end=60)
    yield made
    database.dispose()


@pytest.mark.proof
@pytest.mark.parametrize('by', model_bills.CONDITIONS, ids=lambda by: '-'.join(by))
def test_a_lease_is_billed_by_a_rate_that_no_earlier_price_book_named(model, by):
    model.a_month_is_billed_before_the_next_price_book(side=0, rate='7.01', by=by)
    model.all_is_true()
    assert model.books == 2
    first = model.lines
    model.teardown()
    assert len(model.lines) > len(first)
    rates = [line.rate for line in model.lines.values() if line.kind == 'resource_hours']
    assert len(rates) == 2, rates
