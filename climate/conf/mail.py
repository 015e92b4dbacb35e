# SPDX-License-Identifier: Apache-2.0
"""[mail]: the mail server by which notifications are sent."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('mail', 'The mail server by which notifications are sent', (
    cfg.StrOpt('host', default='',
               help='Name of the SMTP server. Empty: this Climate sends no mail, and '
                    'subscriptions by mail are refused.'),
    cfg.PortOpt('port', default=587, help='Port of the SMTP server: usually 587, or 465 with '
                                          'implicit TLS.'),
    cfg.StrOpt('tls', default='starttls', choices=['starttls', 'implicit', 'none'],
               help='How the connection is encrypted. starttls: it begins unencrypted and must '
                    'switch to TLS before anything else is sent. implicit: it is TLS from the '
                    'beginning. none: not at all; use it for a server on the same machine only.'),
    cfg.StrOpt('ca_file', default='',
               help='File with the certificates of the authorities that may have signed the '
                    'certificate of the server. Empty: those of the system.'),
    cfg.StrOpt('username', default='', help='Name for the login. Empty: no login.'),
    cfg.StrOpt('password', default='', secret=True, help='Password for the login.'),
    cfg.StrOpt('sender', default='climate@localhost',
               help='Address from which mail is sent.'),
    cfg.IntOpt('timeout_seconds', default=30, min=1,
               help='Seconds to wait for an answer of the server.'),
    cfg.ListOpt('allowed_domains', default=[],
                help='Domains to which mail may be sent, such as "example.org". Empty: all.'),
    cfg.StrOpt('template_directory', default='',
               help='Directory with templates that replace the built-in ones: subject.txt, '
                    'body.txt, body.html, or KIND.subject.txt and so on for one kind of '
                    'notification. If a template has an error, the error is logged and the '
                    'built-in template is used. Empty: the built-in templates.'),
))
