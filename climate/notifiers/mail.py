# SPDX-License-Identifier: Apache-2.0
"""Notifications by mail: text and HTML, sent by SMTP with TLS and a login."""
import contextlib
from email import errors as email_errors
from email import message
from email import policy
from email import utils
import smtplib
import ssl

import email_validator

from climate import errors
from climate.notifiers import base
from climate.notifiers import mail_templates

_LONGEST_REASON = 300
_MAILS_OF_A_CONNECTION = 100
# A private cloud may have its mail server in a reserved domain, such as mail.local.
email_validator.SPECIAL_USE_DOMAIN_NAMES.clear()


class Mail(base.Notifier):
    """Sends mail to the SMTP server that [mail] names."""

    def __init__(self, conf):
        super().__init__(conf)
        self._templates = mail_templates.Templates(conf.mail.template_directory)

    def check(self):
        conf = self._conf.mail
        if not conf.host:
            return
        try:
            _domain(conf.sender)
        except ValueError as error:
            raise errors.ConfigurationError(f'[mail] sender: {error}') from error
        try:
            self._context()
        except OSError as error:
            raise errors.ConfigurationError(f'[mail] ca_file cannot be used: {error}') from error
        if conf.username and conf.tls == 'none':
            raise errors.ConfigurationError(
                '[mail] username: a password is not sent without TLS; set tls to starttls or '
                'implicit.')

    def template_problems(self):
        """Return the errors of the operator's templates, as sentences."""
        return self._templates.problems()

    def checked(self, address):
        if not self._conf.mail.host:
            raise errors.BadField(field='transport', reason=(
                'this Climate sends no mail; use a webhook or a calendar, or ask your operator to '
                'set [mail] host.'))
        try:
            domain = _domain(address)
        except ValueError as error:
            raise errors.BadField(field='address', reason=f'{error}.') from error
        allowed = [name.lower().lstrip('@') for name in self._conf.mail.allowed_domains]
        if allowed and domain not in allowed:
            raise errors.BadField(field='address', reason=(
                f'mail goes to these domains only: {", ".join(allowed)}.'))
        return address

    @contextlib.contextmanager
    def session(self):
        # One connection for the mail of a session, opened for the first mail. Many servers accept
        # only a number of mails over one connection.
        server, mails = [], 0

        def send(mail):
            nonlocal mails
            if server and mails % _MAILS_OF_A_CONNECTION == 0:
                _close(server.pop())
            if not server:
                server.append(self._connect())
            mails += 1
            try:
                self._send(server[0], mail)
            except base.Down:
                _close(server.pop())
                raise
        try:
            yield send
        finally:
            for open_server in server:
                _close(open_server)

    def _connect(self):
        conf = self._conf.mail
        if not conf.host:
            raise base.Down('[mail] host is not set.')
        implicit = conf.tls == 'implicit'
        server = None
        try:
            if implicit:
                server = smtplib.SMTP_SSL(conf.host, conf.port, timeout=conf.timeout_seconds,
                                          context=self._context())
            else:
                server = smtplib.SMTP(conf.host, conf.port, timeout=conf.timeout_seconds)
            if conf.tls == 'starttls':
                server.starttls(context=self._context())
            if conf.username:
                server.login(conf.username, conf.password)
        except (smtplib.SMTPException, OSError) as error:
            if server is not None:
                _close(server)
            raise base.Down(f'The mail server cannot be used: {_words(error)}') from error
        return server

    def _context(self):
        return ssl.create_default_context(cafile=self._conf.mail.ca_file or None)

    def _send(self, server, mail):
        sender = self._conf.mail.sender
        try:
            built = self.built(mail)
            # Some texts raise an error only here.
            built.as_bytes()
        except (ValueError, email_errors.MessageError) as error:
            raise base.Undelivered(f'No mail could be made of it: {error}',
                                   permanent=True) from error
        try:
            server.send_message(built, from_addr=sender, to_addrs=[mail.address])
        except smtplib.SMTPRecipientsRefused as error:
            code, text = next(iter(error.recipients.values()))
            raise _refused(code, text) from error
        except smtplib.SMTPDataError as error:
            raise _refused(error.smtp_code, error.smtp_error) from error
        except (smtplib.SMTPException, OSError) as error:
            raise base.Down(f'The mail server failed: {_words(error)}') from error

    def built(self, mail):
        """Return the EmailMessage of a Message."""
        built = message.EmailMessage(policy=policy.SMTP)
        sender = self._conf.mail.sender
        built['From'] = sender
        built['To'] = mail.address
        built['Subject'] = _plain(self._templates.render(mail_templates.SUBJECT, mail.body))
        built['Date'] = utils.localtime()
        built['Message-ID'] = f'<{mail.id}@{sender.rpartition("@")[2]}>'
        # With this header (RFC 3834) programs do not answer the mail.
        built['Auto-Submitted'] = 'auto-generated'
        built['Climate-Notification-Id'] = mail.id
        built.set_content(self._templates.render(mail_templates.TEXT, mail.body))
        built.add_alternative(self._templates.render(mail_templates.HTML, mail.body),
                              subtype='html')
        return built


def _plain(subject):
    """Return a subject in which the email package finds no encoded word (RFC 2047).

    The package would decode an encoded word in the name of a lease. Decoded line breaks would begin
    another header or the body of the mail. An invisible word joiner prevents this.
    """
    return subject.replace('=?', '=\u2060?')


def _domain(address):
    """Return the domain of a mail address, in lower case.

    :raises ValueError: the text is not a mail address; the error has the reason.
    """
    if not address.isascii():
        raise ValueError('write the mail address in ASCII, an international domain as xn--…')
    try:
        return email_validator.validate_email(
            address, strict=True, check_deliverability=False, globally_deliverable=False
        ).ascii_domain
    except email_validator.EmailNotValidError as error:
        raise ValueError(f'"{address[:80]}" is not a mail address, such as ann@example.org: '
                         f'{str(error).rstrip(".")}') from error


def _refused(code, text):
    """Return the Undelivered for an answer of the server about one mail.

    A code below 500 is temporary, and often about the server itself, such as a relay that defers
    all mail. So it does not count as a failure of the subscription.
    """
    words = text.decode(errors='replace') if isinstance(text, bytes) else str(text)
    return base.Undelivered(
        f'The mail server refused it: {code} {" ".join(words.split())[:_LONGEST_REASON]}',
        permanent=code >= 500, counts=code >= 500)


def _words(error):
    """Describe a failure of the server, without the content of the mail."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return f'it does not accept the login ({error.smtp_code}).'
    return f'{type(error).__name__}: {" ".join(str(error).split())[:_LONGEST_REASON]}'


def _close(server):
    """Close the connection to a server in any state."""
    with contextlib.suppress(smtplib.SMTPException, OSError):
        server.quit()
    server.close()
