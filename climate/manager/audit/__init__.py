# SPDX-License-Identifier: Apache-2.0
"""The audit: compare the database with a snapshot of the cloud, repair, on a schedule."""
