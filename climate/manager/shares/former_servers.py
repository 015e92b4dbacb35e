# SPDX-License-Identifier: Apache-2.0
"""Check the choices of owners for the servers of a project that loses a share or a lease."""
from climate import errors


def refuse_choice(conf, request):
    """Refuse a request for what this cloud does not allow.

    :param request: a ShareRequest or a TransferRequest.
    :raises BadField: the error names the field and says what is possible.
    """
    allowed = conf.shares.allowed_on_withdrawal
    if request.on_withdrawal is not None and request.on_withdrawal not in allowed:
        raise errors.BadField(field='on_withdrawal', reason=(
            f'this cloud allows only {", ".join(allowed)}.'))
    least = conf.shares.notice_minutes
    if request.notice_seconds is not None and request.notice_seconds < least * 60:
        raise errors.BadField(field='notice', reason=(
            f'it is shorter than {least} minutes, the shortest notice of this cloud.'))


def notice_seconds(conf, request):
    """Return the chosen notice before servers are stopped or deleted, or that of this cloud."""
    if request.notice_seconds is not None:
        return request.notice_seconds
    return conf.shares.notice_minutes * 60
