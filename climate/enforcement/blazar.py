# SPDX-License-Identifier: Apache-2.0
"""The dialect of the external service of Blazar, on which the other dialects are based."""
from collections.abc import Mapping
from typing import Any

from climate.enforcement import answers
from climate.enforcement import base


class Blazar:
    """Blazar asks before a lease is created or changed, and reports its end.

    There is no call after the booking, so the service may charge when it is asked.

    :cvar header: the header of the token.
    :cvar questions: {kind of call: name of the call that asks}.
    :cvar reports: {kind of call: name of the call that reports what was done}.
    :cvar suffix: the end of each path.
    """

    charges_when_asked = True
    header = 'X-Auth-Token'
    questions: Mapping[str, str] = {base.CREATE: 'check-create', base.UPDATE: 'check-update'}
    reports: Mapping[str, str] = {**questions, base.END: 'on-end'}
    suffix = ''

    def body(self, call: base.Call) -> dict[str, Any]:
        """Return the JSON-ready body of a call."""
        return {'context': dict(call.body['context']), **{
            key: self.lease(call.body[key]) for key in ('current_lease', 'lease')
            if key in call.body}}

    def lease(self, lease: Mapping[str, Any]) -> dict[str, Any]:
        """Return a lease of a body in this dialect."""
        return dict(lease)

    def is_done(self, call: base.Call, answer: answers.Answer) -> bool:
        """Return whether an answer other than 204 means that the call had its effect before."""
        return False

    def closing(self, call: base.Call) -> base.Call | None:
        """Return the call that follows the report of an end; None: there is none."""
        return None
