# SPDX-License-Identifier: Apache-2.0
"""When what somebody asks for can be had: arrays look for the moments, booking confirms them."""
