# SPDX-License-Identifier: Apache-2.0
"""Booking: find candidates, choose, lock and check again; substitutes, offers, availability."""
