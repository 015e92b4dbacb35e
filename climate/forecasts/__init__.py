# SPDX-License-Identifier: Apache-2.0
"""Methods of forecasts, one file for each; how the best model and its bands are found."""
