# SPDX-License-Identifier: Apache-2.0
"""The check for known weaknesses first finds out whether PyPI can be asked."""
import http.server
import json
import threading

import pytest

from tools import weaknesses


@pytest.fixture
def pypi():
    """A PyPI that answers {path: document}; gives its address and that dict."""
    documents = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = documents.get(self.path)
            self.send_response(404 if found is None else 200)
            self.end_headers()
            self.wfile.write(found or b'')

        def log_message(self, *arguments):
            pass

    server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}/pypi', documents
    server.shutdown()
    server.server_close()


def test_a_pypi_that_tells_weaknesses_can_be_asked(pypi):
    address, documents = pypi
    documents['/pypi/alembic/1.2/json'] = json.dumps({'vulnerabilities': []}).encode()
    assert weaknesses.silence(address, ('alembic', '1.2')) is None


@pytest.mark.parametrize('document', [None, b'{}', b'[]', b'<html>'])
def test_a_mirror_that_has_the_packages_alone_cannot(pypi, document):
    address, documents = pypi
    documents['/pypi/alembic/1.2/json'] = document
    assert '/alembic/1.2/json' in weaknesses.silence(address, ('alembic', '1.2'))


def test_an_index_that_does_not_exist_reports_nothing():
    assert 'refused' in weaknesses.silence('http://127.0.0.1:1/pypi', ('alembic', '1.2'))


def test_the_first_package_that_is_pinned_is_the_one_to_ask_about():
    assert weaknesses.first_of('# pins\nalembic==1.2; python_version > "3"\nb==2\n') == [
        'alembic', '1.2']
