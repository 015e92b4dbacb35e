# SPDX-License-Identifier: Apache-2.0
"""[forecast]: the forecasts of the use of pools."""
from oslo_config import cfg

from climate.conf import group

GROUP = group.Group('forecast', 'How the use of a pool is forecast', (
    cfg.StrOpt('method', default='auto',
               help='Method of forecasts, by its name in the entry points climate.forecasts. '
                    'holt-winters needs the extra [forecast], which installs statsmodels; '
                    'simple weighs simple guesses by their past errors, as holt-winters does with '
                    'its own forecasts too; seasonal-naive repeats the last week. auto: '
                    'holt-winters if it is installed. A pool with less than two weeks of history '
                    'is forecast by simple instead of holt-winters.'),
    cfg.IntOpt('history_days', default=90, min=8, max=366,
               help='Number of past days that a forecast uses. A forecast takes longer if these '
                    'days have more leases.'),
    cfg.IntOpt('refusals_days', default=400, min=0, max=3660,
               help='Number of days for which refused requests are stored, counted from their last '
                    'repetition, and at least until the usage of that day is closed. Forecasts use '
                    'them. 0: until climate-db purge deletes them.'),
    cfg.IntOpt('refusals_per_project', default=1000, min=1, max=1000000,
               help='Largest number of stored refusals of one project. Each reservation of a '
                    'refused request, and of a lease that waited without success, is one refusal. '
                    'When another one is added, the oldest ones are deleted.'),
))
