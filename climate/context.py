# SPDX-License-Identifier: Apache-2.0
"""The request context: the identity of the caller, also across the message bus."""
from typing import Any
from typing import Self

from oslo_context import context


class RequestContext(context.RequestContext):
    """The caller, as authenticated by the API.

    The field ``auth_token`` of oslo.context is kept to make the Keystone trust of a lease. It is
    never written to the database or to a log.

    :ivar trust_id: the trust of the caller's token; None: the user's own token.
    :ivar trustee_id: the user who acts by that trust, such as Climate or Heat.
    :ivar role_ids: the ids of the caller's roles; empty if Keystone did not check the token.
    """

    FROM_DICT_EXTRA_KEYS = ('trust_id', 'trustee_id', 'role_ids')

    def __init__(self, *args: Any, trust_id: str | None = None, trustee_id: str | None = None,
                 role_ids: list[str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.trust_id = trust_id
        self.trustee_id = trustee_id
        self.role_ids = role_ids or []

    @classmethod
    def from_environ(cls, environ: dict[str, Any], **kwargs: Any) -> Self:
        token = _token(environ)
        trust = token.get('OS-TRUST:trust') or {}
        return super().from_environ(environ, **{
            'trust_id': trust.get('id'), 'trustee_id': trust.get('trustee_user', {}).get('id'),
            'role_ids': [role['id'] for role in token.get('roles', ()) if 'id' in role], **kwargs})

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), 'trust_id': self.trust_id, 'trustee_id': self.trustee_id,
                'role_ids': self.role_ids, 'user_name': self.user_name,
                'project_name': self.project_name}

    @classmethod
    def internal(cls) -> Self:
        """Return the identity of the manager itself, for work that no request started."""
        return cls(is_admin=True, overwrite=False)


def _token(environ: dict[str, Any]) -> dict[str, Any]:
    """Return what Keystone says of the token of a request; {} with other authentications."""
    return (environ.get('keystone.token_info') or {}).get('token', {})
