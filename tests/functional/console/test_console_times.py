# SPDX-License-Identifier: Apache-2.0
"""The console understands moments and durations as the command line does."""
import flask
import pytest
from support import moment_texts

from climate.client import times
from climate.console.pages import translations


@pytest.fixture(scope='module')
def answer():
    """A function that asks a route, which needs neither a login nor climate-api by itself."""
    app = flask.Flask(__name__)
    app.register_blueprint(translations.blueprint)
    return lambda path, **query: app.test_client().get(path, query_string=query).json


@pytest.mark.parametrize('case, after', [
    *((case, None) for case in moment_texts.CASES), *moment_texts.AFTER],
    ids=lambda value: value.text[:30] if value and not isinstance(value, str) else value or '')
def test_a_text_is_the_moment_that_a_person_means_or_is_refused(answer, monkeypatch, case, after):
    monkeypatch.setattr(times, 'utcnow', lambda: case.at)
    found = answer('/moments', text=case.text, zone=case.zone, after=after or '')
    if case.moment is None:
        assert case.refusal in found['problem'] and 'moment' not in found
    else:
        assert found['moment'] == times.iso(case.moment)
        assert times.moment(found['wire'], case.at) == case.moment


@pytest.mark.parametrize('text, seconds', [
    ('1.5h', 5400), ('1h30', 5400), ('1 hour', 3600), ('90m', 5400), ('1d1h15m', 90900)])
def test_a_duration_is_understood(answer, text, seconds):
    assert answer('/durations', text=text) == {'seconds': seconds}


@pytest.mark.parametrize('text', ['', '-1h', '2 months', '0', 'soon', '9' * 30 + 's'])
def test_another_text_is_refused_with_the_way_out(answer, text):
    assert set(answer('/durations', text=text)) == {'problem'}


@pytest.mark.parametrize('query', [{'zone': 'Nowhere'}, {'zone': '../../etc/passwd'}, {'zone': ''},
                                   {'after': 'x'}, {'after': '0001-01-01T00:00+05:00'}])
def test_a_malformed_question_is_answered_with_the_problem(answer, query):
    assert set(answer('/moments', text='9:00', **query)) == {'problem'}


def test_a_moment_is_understood_for_users_who_are_logged_in(browser):
    assert browser.client.get('/moments?text=now').status_code == 302
    browser.log_in()
    assert browser.client.get('/moments?text=%2B2h').json['wire'] == '+7200s'
