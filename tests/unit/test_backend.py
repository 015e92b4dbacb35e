# SPDX-License-Identifier: Apache-2.0
"""The backend of a daemon is chosen before its configuration is read as a whole."""
import pytest

from climate import backend


def test_a_configuration_file_that_is_not_there_is_named(tmp_path):
    missing = str(tmp_path / 'missing.conf')
    with pytest.raises(SystemExit, match=f'climate-manager: .*{missing}'):
        backend.choose(['--config-file', missing], 'climate-manager')


def test_a_backend_that_there_is_not_is_named(tmp_path):
    path = tmp_path / 'climate.conf'
    path.write_text('[manager]\nbackend = asyncio\n')
    with pytest.raises(SystemExit, match=r'climate-manager: .*threading.*asyncio'):
        backend.choose([f'--config-file={path}'], 'climate-manager')
