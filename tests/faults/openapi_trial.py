# SPDX-License-Identifier: Apache-2.0
"""Sends cases to an installation, counts the answers, and keeps what is wrong with them."""
import collections
import logging

import openapi_secrets

_MOST_TOLD = 5


class Watch(logging.Handler):
    """Keeps what the service logs with a traceback, and what it logs as an error."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self._seen = []

    def emit(self, record):
        if record.exc_info or record.levelno >= logging.ERROR:
            self._seen.append(record.getMessage())

    def taken(self):
        """The messages since the last time."""
        seen, self._seen = self._seen, []
        return seen


class Trial:
    """Sends cases and judges the answers.

    :ivar answers: {(operation, status): how many}.
    :ivar wrong: what no answer may be, in words, with the request that led to it; a few of them.
    """

    def __init__(self, world, watch):
        self._world = world
        self._watch = watch
        self.answers = collections.Counter()
        self.wrong = []

    @property
    def sent(self):
        """The number of cases with an answer."""
        return sum(self.answers.values())

    def statuses(self):
        """{status: how many}."""
        found = collections.Counter()
        for (_, status), count in self.answers.items():
            found[status] += count
        return found

    def send(self, case, version, token):
        """Send one case.

        :param version: of REST, or None: the case says it, or nobody.
        :param token: who asks, or None.
        """
        headers = {'X-Auth-Token': token} if token else {}
        if version:
            headers['OpenStack-API-Version'] = f'reservation {version}'
        self._watch.taken()
        try:
            answer = case.call(headers=headers)
        except Exception as error:  # noqa: BLE001
            # Any exception that passes the entry points is an error.
            self._fail(case, f'raised {error!r}')
            return
        self.answers[case.operation.label, answer.status_code] += 1
        self._judge(case, answer)
        self._refuse_secrets(case, answer, token)

    def table(self):
        """The answers as lines of text: an operation each, a column for each status."""
        statuses = sorted(self.statuses())
        lines = [('', *statuses, 'all')]
        for label in sorted({label for label, _ in self.answers}):
            counts = [self.answers[label, status] for status in statuses]
            lines.append((label, *counts, sum(counts)))
        lines.append(('all', *(self.statuses()[status] for status in statuses), self.sent))
        return '\n'.join(f'{first:40}' + ''.join(f'{each:>7}' for each in rest)
                         for first, *rest in lines)

    def _judge(self, case, answer):
        seen = self._watch.taken()
        if answer.status_code >= 500:
            self._fail(case, f'{answer.status_code}: {answer.content[:300]!r}')
        if seen:
            self._fail(case, f'logged {seen[:2]}')
        if answer.status_code < 400 and case.method not in ('GET', 'HEAD'):
            self._world.accepted()
            return
        if answer.status_code >= 400 and b'message' not in answer.content and case.method != 'HEAD':
            self._fail(case, f'{answer.status_code} without a message: {answer.content[:300]!r}')
        if self._world.is_changed():
            self._fail(case, f'{answer.status_code}, but something was changed')
            self._world.remember()

    def _refuse_secrets(self, case, answer, token):
        seen = answer.content.decode(errors='replace') + str(dict(answer.headers))
        sent = case.as_curl_command()
        for secret in openapi_secrets.shown(self._world.secrets(token), seen, sent):
            self._fail(case, f'{answer.status_code} shows "{secret}": {seen[:300]!r}')

    def _fail(self, case, what):
        if len(self.wrong) < _MOST_TOLD:
            self.wrong.append(f'{what}\n  {case.as_curl_command()}')
