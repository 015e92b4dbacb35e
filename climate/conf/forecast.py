# SPDX-License-Identifier: Apache-2.0
"""[forecast]: the forecasts of the use of pools."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('forecast', 'How the use of a pool is forecast', (
    cfg.StrOpt('method', default='auto',
               help='Method of forecasts, by its name in the entry points climate.forecasts. '
                    'holt-winters needs the extra [forecast], which installs statsmodels; '
                    'seasonal-naive repeats the last week. auto: holt-winters if it is installed. '
                    'A pool with less than two weeks of history is always forecast by '
                    'seasonal-naive.'),
    cfg.IntOpt('history_days', default=90, min=8, max=366,
               help='Number of past days that a forecast learns from. The time for a forecast '
                    'grows with the leases of these days.'),
    cfg.IntOpt('refusals_days', default=400, min=0, max=3660,
               help='Number of days that refused requests are kept, counted from their last '
                    'repetition. Forecasts learn from them; usage has counted them before. 0: '
                    'until climate-db purge deletes them.'),
    cfg.IntOpt('refusals_per_project', default=1000, min=1, max=1000000,
               help='Number of refused requests and of leases that waited without success that '
                    'are kept of a project, one for each reservation. Older ones are deleted '
                    'when another one is added.'),
))
