# SPDX-License-Identifier: Apache-2.0
"""The templates of mail: built-in templates, and templates of the operator that replace them."""
import collections.abc
import datetime
import itertools
import pathlib
import traceback

import jinja2
from jinja2 import sandbox
from oslo_log import log

from climate import moments
from climate.domain import notification_kinds

LOG = log.getLogger(__name__)

#: The parts of a mail.
PARTS = SUBJECT, TEXT, HTML = ('subject.txt', 'body.txt', 'body.html')
# The maximum number of characters of a part; a longer text is an error of the template.
_LONGEST = 200_000
_LONGEST_SUBJECT = 200
# The maximum number of steps of all loops over range() in one part.
_MOST_STEPS = 100_000
# The errors of a template: those of Jinja2, of its file, and of any expression in it.
_FAILURES = (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, MemoryError,
             OSError, RuntimeError, TypeError, ValueError)

_LEASE = {
    'id': '1c0f4d1e-7c0b-4e0f-9c55-3f6a3c2b5a10', 'name': 'an example', 'project_id': 'demo',
    'user_id': 'ann', 'status': 'active', 'start': '2030-05-01T08:00:00Z',
    'end': '2030-05-02T08:00:00Z', 'before_end': None, 'degraded': False,
    'reason': 'A reason, in words.', 'idle_since': None, 'reclaim_at': None,
    'reservations': [{'id': '8e7c', 'resource_type': 'physical:host'}]}


class Templates:
    """Renders the parts of a mail.

    :param directory: the operator's templates; None or '' if there are none.
    """

    def __init__(self, directory=None):
        self._built_in = _environment(pathlib.Path(__file__).parent / 'templates')
        self._own = _environment(directory) if directory else None

    def render(self, part, body):
        """Render a part of a mail.

        An error of the operator's template is logged, and the built-in template is used instead.

        :param body: the body of a Message.
        """
        text, problem = self._tried(part, body['kind'], body)
        if problem is not None:
            LOG.error('Mail template for %s: %s; the built-in template is used instead. '
                      '"climate-status upgrade check" shows the error.', part, problem)
        if text is not None:
            return text
        return self._finished(part, self._built_in.get_template(part), body)

    def problems(self):
        """Return the errors of the operator's templates, as sentences."""
        problems = []
        for part, kind in itertools.product(PARTS, notification_kinds.KINDS):
            tried = (self._tried(part, kind, body) for body in examples(kind))
            problem = next((problem for _, problem in tried if problem is not None), None)
            if problem is not None:
                problems.append(f'{problem} (for {part}, with an example of {kind})')
        return problems

    def _tried(self, part, kind, body):
        """Render the operator's template for a part.

        :returns: (text, None); (None, its error); (None, None) if there is no such template.
        """
        if self._own is None:
            return None, None
        try:
            template = self._own.select_template([f'{kind}.{part}', part])
            return self._finished(part, template, body), None
        except jinja2.TemplatesNotFound:
            return None, None
        except _FAILURES as error:
            return None, described(error)

    @staticmethod
    def _finished(part, template, body):
        text = ''
        for piece in template.generate(**{
                'lease': None, 'details': None, 'seconds_before_end': None, **body,
                'range': _limited_range()}):
            # str() is needed, because Markup would escape the text that is added to it.
            text += str(piece)
            if len(text) > _LONGEST:
                raise ValueError(f'{template.name}: it makes more than {_LONGEST} characters')
        if part != SUBJECT:
            return text
        # A header has no line breaks, but a name may have some.
        return ' '.join(text.split())[:_LONGEST_SUBJECT]


class _Environment(sandbox.SandboxedEnvironment):
    """A sandbox that limits products, so that a template cannot exhaust the manager's memory."""

    intercepted_binops = frozenset(('*', '**'))

    def call_binop(self, context, operator, left, right):
        if operator == '**':
            raise jinja2.TemplateRuntimeError('powers (**) are not computed in templates')
        for many, count in ((left, right), (right, left)):
            if isinstance(many, collections.abc.Sequence) and isinstance(count, int) and (
                    len(many) * count > _LONGEST):
                raise jinja2.TemplateRuntimeError(
                    f'a product (*) has more than {_LONGEST} characters or elements')
        return super().call_binop(context, operator, left, right)


def _limited_range():
    """Return a range() for one rendering that limits the steps of all loops together."""
    left = _MOST_STEPS

    def limited(*numbers):
        nonlocal left
        steps = range(*numbers)
        left -= len(steps)
        if left < 0:
            raise jinja2.TemplateRuntimeError(
                f'its loops over range() have more than {_MOST_STEPS} steps')
        return steps
    return limited


def described(error):
    """Return an error of a template in one line, with the file and the line if they are known."""
    place = getattr(error, 'name', None) or ''
    line = getattr(error, 'lineno', None)
    for frame in traceback.extract_tb(error.__traceback__):
        # The traceback of Jinja2 has a frame with the file and the line of the template.
        if not line and frame.filename.endswith(PARTS):
            place, line = pathlib.Path(frame.filename).name, frame.lineno
    where = f'{place} line {line}: ' if place and line else f'{place}: ' if place else ''
    return f'{where}{type(error).__name__}: {" ".join(str(error).split())[:300]}'


def examples(kind):
    """Return bodies of messages of a kind, for checks of templates."""
    common = {'id': '5b1d', 'kind': kind, 'headline': 'An example', 'at': '2030-05-01T12:00:00Z',
              'subscription_id': '9c2e', 'project_id': 'demo', 'event_type': None}
    about_lease = {**common, 'lease': _LEASE, 'details': None, 'seconds_before_end': (
        86400 if kind == notification_kinds.BEFORE_END else None)}
    without = {**common, 'lease': None, 'seconds_before_end': None}
    details = {'message': 'A message.'} if kind != notification_kinds.IDLE else {
        'week': '2030-04-29T00:00:00Z', 'leases': [{
            'id': _LEASE['id'], 'name': 'an example', 'end': _LEASE['end'],
            'idle_since': _LEASE['start'], 'reclaim_at': None}]}
    return [about_lease, {**without, 'details': details}]


def _environment(directory):
    environment = _Environment(
        loader=jinja2.FileSystemLoader(str(directory)), undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(enabled_extensions=('html',), default=False))
    environment.filters.update(moment=_moment, span=_span)
    return environment


def _moment(text):
    """Format an ISO moment for readers."""
    moment = datetime.datetime.fromisoformat(text)
    return f'{moments.in_utc(moment):%Y-%m-%d %H:%M} UTC'


def _span(seconds):
    return moments.span(datetime.timedelta(seconds=seconds))
