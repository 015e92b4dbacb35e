# SPDX-License-Identifier: Apache-2.0
"""A private MariaDB and a private PostgreSQL on loopback, for tests."""
