# SPDX-License-Identifier: Apache-2.0
"""Mail: by TLS and a login to a real server, in text and HTML, with templates of the operator."""
import email
from email import policy

import pytest
from support import receivers
from support import thinning

from climate import errors
from climate.domain import notification_kinds
from climate.notifiers import base
from climate.notifiers import mail
from climate.notifiers import mail_templates


def a_message(**more):
    [body, _] = mail_templates.examples(notification_kinds.START)
    body = {**body, 'id': 'n1', **more}
    return base.Message('n1', 'ann@example.org', None, body)


@pytest.fixture(params=['starttls', 'implicit'])
def box(request, tmp_path, conf):
    context, authority = receivers.certificate(tmp_path, 'localhost')
    with receivers.mail_server(context, implicit=request.param == 'implicit') as found:
        receivers.use_mail(conf, found, authority, tls=request.param)
        yield found


def test_a_mail_has_text_and_html_and_an_id(conf, box):
    with mail.Mail(conf).session() as send:
        send(a_message(headline='Lease <b>x</b> has started'))
        send(a_message())
    first, second = box.mails
    assert box.logins == ['climate']
    assert box.envelopes[0] == ('climate@cloud.example', ['ann@example.org'])
    assert first['Subject'] == 'Lease <b>x</b> has started'
    assert first['Message-ID'] == second['Message-ID'] == '<n1@cloud.example>'
    assert first['Auto-Submitted'] == 'auto-generated'
    text = first.get_body(('plain',)).get_content()
    assert 'Status:   active' in text
    assert '2030-05-02 08:00 UTC' in text
    html = first.get_body(('html',)).get_content()
    assert '<h2>Lease &lt;b&gt;x&lt;/b&gt; has started</h2>' in html


@pytest.mark.parametrize(('answer', 'permanent'), [('550 Unknown.', True), ('451 Later.', False)])
def test_a_refused_recipient_is_undelivered_for_good_or_for_now(conf, box, answer, permanent):
    box.refusals = [answer]
    with mail.Mail(conf).session() as send:
        with pytest.raises(base.Undelivered, match=f'refused it: {answer}') as raised:
            send(a_message())
        assert raised.value.permanent is permanent
        send(a_message())
    assert len(box.mails) == 1


def test_a_refused_login_blames_no_receiver_and_shows_no_password(conf, box):
    conf.set_override('password', 'not-it', group='mail')
    with mail.Mail(conf).session() as send, pytest.raises(base.Down) as raised:
        send(a_message())
    assert 'does not accept the login' in str(raised.value)
    assert 'not-it' not in str(raised.value)
    assert not raised.value.counts


def test_a_server_with_an_unknown_certificate_gets_no_mail(conf, box):
    conf.set_override('ca_file', '', group='mail')
    with mail.Mail(conf).session() as send, pytest.raises(base.Down, match='certificate'):
        send(a_message())
    assert box.mails == box.logins == []


@pytest.mark.parametrize('address', [
    'ann@example.org\r\nBcc: eve@example.org', 'ann@example.org\n', 'ann', '@example.org', 'ann@',
    'ann @example.org', 'Ann <ann@example.org>', 'ann@example.org, eve@example.org', 'änn@x.org',
    'a' * 65 + '@example.org', 'a@' + 'b' * 260, 'ann@example.org\0', '', '"', 'ann@[',
    'a@b;c'])
def test_an_invalid_mail_address_is_refused(conf, address):
    conf.set_override('host', 'mx', group='mail')
    with pytest.raises(errors.BadField) as raised:
        mail.Mail(conf).checked(address)
    assert raised.value.kwargs['field'] == 'address'


@pytest.mark.parametrize('address', [
    'ann@example.org', 'o\'neill+x@a-b.example.org', 'root@localhost', 'ann@mail.local',
    'ann@cloud.test', 'ann@xn--bcher-kva.example', 'a' * 64 + '@Example.org'])
def test_a_valid_mail_address_is_accepted_unchanged(conf, address):
    conf.set_override('host', 'mx', group='mail')
    assert mail.Mail(conf).checked(address) == address


def test_mail_goes_to_allowed_domains_only(conf):
    conf.set_override('host', 'mx', group='mail')
    conf.set_override('allowed_domains', ['example.org'], group='mail')
    assert mail.Mail(conf).checked('ann@Example.org') == 'ann@Example.org'
    with pytest.raises(errors.BadField, match='these domains only'):
        mail.Mail(conf).checked('ann@other.org')


def test_without_a_server_a_subscription_by_mail_is_refused(conf):
    with pytest.raises(errors.BadField, match='sends no mail'):
        mail.Mail(conf).checked('ann@example.org')


def test_a_template_of_the_operator_replaces_the_built_in_one(conf, tmp_path):
    (tmp_path / 'subject.txt').write_text('Ours: {{ headline }}\nand more')
    (tmp_path / 'start.body.txt').write_text('Hello {{ lease.user_id }}')
    conf.set_override('template_directory', str(tmp_path), group='mail')
    notifier = mail.Mail(conf)
    built = notifier.built(a_message())
    assert built['Subject'] == 'Ours: An example and more'
    assert built.get_body(('plain',)).get_content() == 'Hello ann\n'
    assert 'Notification n1' in built.get_body(('html',)).get_content()


@pytest.mark.parametrize('text', [
    '{{ lease.nmae }}', '{% if %}', '{{ 1 / 0 }}', '{{ "".__class__.__mro__ }}',
    '{% for a in range(99999) %}{{ "x" * 99999 }}{% endfor %}', '{{ lease.start | nothing }}',
    '{% include "missing.txt" %}', '{% include "start.body.txt" %}',
    '{{ lease.start | moment(1) }}',
    '{{ lease.name.encode("idna", "nothing") }}',
    # Without a limit these would take all memory, or for ever, with larger numbers.
    '{{ ("x" * 10000000) | length }}', '{{ (9 ** 9) }}',
    '{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}'])
def test_a_template_with_an_error_is_logged_and_the_built_in_one_is_used(
        conf, tmp_path, caplog, text):
    (tmp_path / 'start.body.txt').write_text(f'Hello\n{text}')
    conf.set_override('template_directory', str(tmp_path), group='mail')
    notifier = mail.Mail(conf)
    built = notifier.built(a_message())
    assert 'Status:   active' in built.get_body(('plain',)).get_content()
    assert 'the built-in template is used instead' in caplog.text
    if 'x" * 99999' not in text:
        assert 'start.body.txt line 2: ' in caplog.text
    assert any('start.body.txt' in each for each in notifier.template_problems())


def test_the_built_in_templates_have_no_error_for_any_kind():
    templates = mail_templates.Templates()
    for kind in notification_kinds.KINDS:
        for body in mail_templates.examples(kind):
            assert all(templates.render(part, body) for part in mail_templates.PARTS)


@pytest.mark.parametrize('word', [
    '=?utf-8?q?x=0ABcc:_eve=40example.org?=', '=?utf-8?q?=0D=0A=0D=0AYour_password?=',
    '=?utf-8?b?CkJjYzogZXZlQGV4YW1wbGUub3Jn?=', '=?UTF-7?Q?+AAo-Bcc:?=', '=?latin-1?q?=0Ax:y?=',
    '=?utf-8*en?q?=0ABcc:x?=', '=?cp037?q?=25Bcc?=', '=?utf-16?b?AAoAQgBjAGM=?=',
    '=?unicode_escape?q?=5Cn?=', '=?raw_unicode_escape?q?=5Cud800?=', '=?x?q?=0A?=', '=?' * 90,
    '=?utf-8?q?a?==?utf-8?q?=0ABcc:x?=', '=?utf-8?q?a?=\u2028=?utf-8?q?=0A?=', '==??=0A?=',
    '\u2028Bcc: x', '\u2029\u2029x'])
@pytest.mark.parametrize('around', thinning.few([
    'Lease é{}é has started', '{}', 'Lease {} has started', '{}{}'], 1))
def test_an_encoded_word_in_a_name_makes_no_header_and_no_body(conf, word, around):
    notifier = mail.Mail(conf)
    headline = around.replace('{}', word)
    plain = notifier.built(a_message())
    built = email.message_from_bytes(
        notifier.built(a_message(headline=headline)).as_bytes(), policy=policy.SMTP)
    assert built.keys() == plain.keys()
    assert 'Your password' not in built.get_body(('plain',)).get_content()
    assert built['Subject'].replace('\u2060', '') == ' '.join(headline.split())[:200]


def test_a_name_with_a_line_break_makes_no_header(conf):
    built = mail.Mail(conf).built(a_message(headline='Lease a\r\nBcc: eve@example.org\r\n has'))
    assert built['Subject'] == 'Lease a Bcc: eve@example.org has'
    assert built['Bcc'] is None
