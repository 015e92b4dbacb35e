# SPDX-License-Identifier: Apache-2.0
"""The audit: compare the database with the cloud, and report or repair the differences."""
