# SPDX-License-Identifier: Apache-2.0
"""Planning: what-if questions about changed pools or demand, and forecasts of the demand."""
