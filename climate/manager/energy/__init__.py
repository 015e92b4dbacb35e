# SPDX-License-Identifier: Apache-2.0
"""Resources that nobody has leased sleep, and wake up before they are needed."""
