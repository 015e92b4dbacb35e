# SPDX-License-Identifier: Apache-2.0
"""The limits of a project on the page of capacity, read without scripts."""
import console_world
from support import builders

EVIL = '<script>alert(1)</script>'


def test_a_member_reads_the_limits_and_markup_in_a_name_is_text(browser, manager):
    manager.client.create_limit_book(builders.an_admin(), None, {
        'limits': [{'name': EVIL, 'measure': 'open_leases', 'most': 2},
                   {'name': 'gpu-users', 'measure': 'roles', 'roles': ['gpu_user']}],
        'extensions': [{'name': f'x{EVIL}', 'times': 2}]})
    manager.enrol(1)
    browser.log_in()
    page = browser.client.get('/capacity').text
    assert EVIL not in page and page.count('&lt;script&gt;alert(1)') == 3
    assert '0 of 2' in page and 'You have none of these roles.' in page
    assert 'Extensions: at most 2 times' in page


def test_a_project_without_limits_reads_so_and_a_refused_reader_sees_no_section(
        browser, conf, manager, url, tmp_path):
    browser.log_in()
    assert 'No limits apply to your project.' in browser.client.get('/capacity').text
    nobody = console_world.Browser(conf, console_world.an_identity(url, roles=('guest',)))
    nobody.log_in()
    assert 'id="limits"' not in nobody.client.get('/capacity').text
