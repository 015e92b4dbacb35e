# SPDX-License-Identifier: Apache-2.0
"""Real receivers of notifications on loopback: an HTTPS server, and an SMTP server with TLS."""
import contextlib
import email
from email import policy
import http.server
import json
import socket
import ssl

from aiosmtpd import controller
from aiosmtpd import smtp
import trustme

from support import loopback

NAME = 'hooks.example'


class Hooks:
    """An HTTPS server that records its requests.

    :ivar requests: (headers, body) in order.
    :ivar statuses: the answers to come; 204 when there are none left.
    :ivar before: called before each answer.
    :ivar clients: the ports of the clients, in order; a connection has the same for each request.
    :ivar keeps_open: whether connections stay open after an answer.
    """

    def __init__(self):
        self.requests = []
        self.statuses = []
        self.port = None
        self.before = lambda: None
        self.clients = []
        self.keeps_open = False

    @property
    def bodies(self):
        return [json.loads(body) for _, body in self.requests]

    @property
    def url(self):
        return f'https://{NAME}:{self.port}/hook?a=b'


def certificate(tmp_path, *names):
    """Make a certificate of an authority of our own; return (its context, the file of the CA)."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    path = tmp_path / f'authority-{names[0]}.pem'
    authority.cert_pem.write_to_path(path)
    return context, str(path)


@contextlib.contextmanager
def hooks(context):
    """Serve HTTPS; yields the Hooks."""
    found = Hooks()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers['Content-Length']))
            found.requests.append((dict(self.headers), body))
            found.clients.append(self.client_address[1])
            if found.keeps_open:
                self.protocol_version, self.close_connection = 'HTTP/1.1', False
            found.before()
            status = found.statuses.pop(0) if found.statuses else 204
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header('Location', f'https://127.0.0.1:{found.port}/other')
            if found.keeps_open:
                self.send_header('Content-Length', '0')
            self.end_headers()

        def log_message(self, *_):
            """Print nothing."""

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with loopback.serving(server) as port:
        found.port = port
        yield found


class Mailbox:
    """An SMTP server that records its mails.

    :ivar mails: EmailMessages.
    :ivar refusals: answers to the recipients of the mails to come, such as '550 Unknown.'.
    """

    def __init__(self):
        self.mails = []
        self.envelopes = []
        self.refusals = []
        self.logins = []
        self.port = None

    async def handle_RCPT(self, server, session, envelope, address, options):  # noqa: N802
        if self.refusals:
            return self.refusals.pop(0)
        envelope.rcpt_tos.append(address)
        return '250 OK'

    async def handle_DATA(self, server, session, envelope):  # noqa: N802
        self.envelopes.append((envelope.mail_from, list(envelope.rcpt_tos)))
        self.mails.append(email.message_from_bytes(envelope.content, policy=policy.default))
        return '250 OK'

    def login(self, server, session, envelope, mechanism, data):
        """Accept one name and password."""
        self.logins.append(data.login.decode())
        good = (data.login, data.password) == (b'climate', b'pass-word')
        return smtp.AuthResult(success=good, handled=False)


@contextlib.contextmanager
def mail_server(context, implicit=False):
    """Serve SMTP with STARTTLS, or TLS from the beginning, and a login; yields the Mailbox."""
    box = Mailbox()
    options = {'ssl_context': context} if implicit else {
        'tls_context': context, 'require_starttls': True}
    server = controller.Controller(
        box, hostname='127.0.0.1', port=0, authenticator=box.login, auth_required=True,
        auth_require_tls=not implicit, **options)
    # With port 0 the controller does not know by itself where it listens.
    server._trigger_server = lambda: socket.create_connection(
        server.server.sockets[0].getsockname()).close()
    server.start()
    try:
        box.port = server.server.sockets[0].getsockname()[1]
        yield box
    finally:
        server.stop()


def use_mail(conf, box, authority, tls='starttls'):
    """Set the options of [mail] to a Mailbox."""
    for name, value in {'host': 'localhost', 'port': box.port, 'tls': tls, 'ca_file': authority,
                        'username': 'climate', 'password': 'pass-word',
                        'sender': 'climate@cloud.example'}.items():
        conf.set_override(name, value, group='mail')
