# SPDX-License-Identifier: Apache-2.0
"""Replay the requests of programs that only exist as public repositories, and check the answers.

A file of ``consumers/exchanges`` has the steps. A step sends one request (``send``, ``body``,
``as`` a person) and names what the program needs of the answer: the ``status``, the values of
``fields``, and the fields to ``keep`` for later steps. Fields are paths such as
``lease.reservations.0.id``. In a text, ``$lease`` is a kept value. A step with ``until`` is
repeated until its fields have these values.
"""
import json
import pathlib
import string

import scene as scenes
import yaml

FOLDER = pathlib.Path(__file__).resolve().parent / 'consumers' / 'exchanges'
NAMES = sorted(path.stem for path in FOLDER.glob('*.yaml'))
_ABSENT = object()


def read(name):
    """Return an exchange as a dict with its steps."""
    return yaml.safe_load((FOLDER / f'{name}.yaml').read_text())


class Exchange:
    """One replay.

    :param people: {name: connection of openstacksdk}.
    :param values: {name: value} that the steps may use.
    :param remember: a function that gets the id of each new lease.
    """

    def __init__(self, people, values, remember):
        self._people, self._values, self._remember = people, dict(values), remember

    def play(self, step):
        """Send the request of a step, and check its answer.

        :raises AssertionError: the program would not get the answer that it needs.
        """
        if 'until' in step:
            scenes.until(lambda: self._differences(step['until'], self._send(step)[1]) == {},
                         f'the answer to {step["send"]}', 120, 0.5)
            return
        status, answer = self._send(step)
        wrong = self._differences(step.get('fields', {}), answer)
        assert (status, wrong) == (step['status'], {}), f'{step["send"]}: {answer}'
        for name, path in step.get('keep', {}).items():
            self._values[name] = _at(answer, path)
            assert self._values[name] is not _ABSENT, f'{step["send"]} has no {path}: {answer}'

    def _send(self, step):
        """Return the status and the body of an answer; None if it has no body."""
        method, path = self._filled(step['send']).split(' ', 1)
        service = step.get('service', 'reservation')
        answer = self._people[step.get('as', 'demo')].session.request(
            path, method, raise_exc=False, json=self._filled(step.get('body')),
            headers={'Content-Type': 'application/json', 'Accept': 'application/json'},
            endpoint_filter={'service_type': service, 'region_name': 'RegionOne'})
        body = answer.json() if answer.content else None
        if (method, path, answer.status_code) == ('POST', '/leases', 201):
            self._remember(body['lease']['id'])
        return answer.status_code, body

    def _filled(self, value):
        """Return a value in whose texts the kept values replace their names."""
        if isinstance(value, dict):
            return {key: self._filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        return string.Template(value).substitute(self._values) if isinstance(
            value, str) else value

    def _differences(self, fields, answer):
        """Return {path: value in the answer} of those that differ.

        The value "any" is each value that is not null, and "absent" means that there is none.
        """
        found = {path: _at(answer, path) for path in fields}
        return {path: value for path, value in found.items()
                if not _is(value, self._filled(fields[path]))}


def _is(value, wanted):
    if wanted in ('any', 'absent'):
        return (value in (None, _ABSENT)) == (wanted == 'absent')
    return value == wanted


def _at(answer, path):
    """Return the value at a path; a text in JSON is read where the path goes on inside."""
    for key in path.split('.') if path else ():
        if isinstance(answer, str):
            answer = json.loads(answer)
        try:
            answer = answer[int(key)] if isinstance(answer, list) else answer[key]
        except (LookupError, TypeError):
            return _ABSENT
    return answer
