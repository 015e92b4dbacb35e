# SPDX-License-Identifier: Apache-2.0
"""Moments that people write, and what each means in five time zones, also when clocks change.

The parser, the command line and the console are tested with the same table.
"""
import datetime
import typing


class Case(typing.NamedTuple):
    """A text that is read at a moment in a zone.

    :ivar expected: an ISO moment; or words of the refusal, which begin with "!".
    """

    zone: str
    now: str
    text: str
    expected: str

    @property
    def at(self):
        return datetime.datetime.fromisoformat(self.now)

    @property
    def moment(self):
        """The expected moment; None: the text is refused."""
        return None if self.expected[0] == '!' else datetime.datetime.fromisoformat(
            self.expected).astimezone(datetime.UTC)

    @property
    def refusal(self):
        return self.expected[1:]


# Berlin on a Thursday, three days before the clocks are put forward.
_BERLIN = {
    'now': '2027-03-25T14:20+01:00', 'NOW': '2027-03-25T14:20+01:00',
    '+2h': '2027-03-25T16:20+01:00', '+1.5h': '2027-03-25T15:50+01:00',
    '+90': '2027-03-25T14:21:30+01:00', 'in 2h': '2027-03-25T16:20+01:00',
    'In 2 Hours': '2027-03-25T16:20+01:00', 'in 90 minutes': '2027-03-25T15:50+01:00',
    'in 1h30': '2027-03-25T15:50+01:00', 'in half an hour': '2027-03-25T14:50+01:00',
    'in an hour': '2027-03-25T15:20+01:00', '2h from now': '2027-03-25T16:20+01:00',
    'in 1d1h15m': '2027-03-26T15:35+01:00', '2h ago': '2027-03-25T12:20+01:00',
    # A day of a duration has 24 hours, also when the clocks are put forward.
    'in 4 days': '2027-03-29T15:20+02:00', 'in 1w': '2027-04-01T15:20+02:00',
    'today': '2027-03-25T00:00+01:00', 'tomorrow': '2027-03-26T00:00+01:00',
    'Tomorrow 9:00': '2027-03-26T09:00+01:00', 'tomorrow 09:00': '2027-03-26T09:00+01:00',
    'tomorrow, 9:00': '2027-03-26T09:00+01:00', 'tomorrow at 9:00': '2027-03-26T09:00+01:00',
    'tomorrow at 9': '2027-03-26T09:00+01:00', 'tomorrow 9': '2027-03-26T09:00+01:00',
    'tomorrow 9am': '2027-03-26T09:00+01:00', 'tomorrow 9:30 pm': '2027-03-26T21:30+01:00',
    '9:00 tomorrow': '2027-03-26T09:00+01:00', '9am tomorrow': '2027-03-26T09:00+01:00',
    ' tomorrow  9:00 ': '2027-03-26T09:00+01:00', 'today 17:00': '2027-03-25T17:00+01:00',
    'today 9:00': '2027-03-25T09:00+01:00', 'yesterday 8:00': '2027-03-24T08:00+01:00',
    'day after tomorrow 8:00': '2027-03-27T08:00+01:00',
    'the day after tomorrow': '2027-03-27T00:00+01:00',
    # A time of day is the next one.
    '17:00': '2027-03-25T17:00+01:00', 'at 17:00': '2027-03-25T17:00+01:00',
    '5pm': '2027-03-25T17:00+01:00', 'at 5 pm': '2027-03-25T17:00+01:00',
    '9:00': '2027-03-26T09:00+01:00', '09:00:30': '2027-03-26T09:00:30+01:00',
    'at 9': '2027-03-26T09:00+01:00', '9am': '2027-03-26T09:00+01:00',
    '14:20': '2027-03-26T14:20+01:00', '14:21': '2027-03-25T14:21+01:00',
    '0:00': '2027-03-26T00:00+01:00', '12am': '2027-03-26T00:00+01:00',
    '12pm': '2027-03-26T12:00+01:00', 'noon': '2027-03-26T12:00+01:00',
    'tomorrow at noon': '2027-03-26T12:00+01:00', '23:59:59': '2027-03-25T23:59:59+01:00',
    # A weekday is the next one, unless people could mean two.
    'friday': '2027-03-26T00:00+01:00', 'Fri 9:00': '2027-03-26T09:00+01:00',
    'on friday at 9': '2027-03-26T09:00+01:00', '9am on friday': '2027-03-26T09:00+01:00',
    'this friday': '2027-03-26T00:00+01:00', 'monday 9:00': '2027-03-29T09:00+02:00',
    'mon 9:00': '2027-03-29T09:00+02:00', 'next monday': '2027-03-29T00:00+02:00',
    'next monday 9:00': '2027-03-29T09:00+02:00', 'next thursday': '2027-04-01T00:00+02:00',
    'wednesday 23:00': '2027-03-31T23:00+02:00', 'tues 8am': '2027-03-30T08:00+02:00',
    'thursday 17:00': '!today is Thursday; write "today" or "next Thursday"',
    'next friday': '!"next Friday" may be 2027-03-26 or 2027-04-02',
    'next sunday 9:00': '!may be 2027-03-28 or 2027-04-04',
    'this monday': '!is over; write "next Monday"', 'monday 9': '!write the time of day as 9:00',
    '2027-01-11 09:00': '2027-01-11T09:00+01:00', '2027-1-11 9:00': '2027-01-11T09:00+01:00',
    '2027-07-01': '2027-07-01T00:00+02:00', '2027-07-01T08:00': '2027-07-01T08:00+02:00',
    '2027-07-01 8pm': '2027-07-01T20:00+02:00', '2027-07-01T08:00Z': '2027-07-01T08:00+00:00',
    '2027-07-01T08:00:00+05:30': '2027-07-01T02:30+00:00',
    '20270701T0800': '2027-07-01T08:00+02:00',
    '2027-W26-4T08:00': '2027-07-01T08:00+02:00', 'Thu 2027-07-01 08:00': '2027-07-01T08:00+02:00',
    'Thursday, 2027-07-01': '2027-07-01T00:00+02:00', 'fri 2027-07-01': '!2027-07-01 is a Thursday',
    '1 July 2027 8:00': '2027-07-01T08:00+02:00', 'July 1, 2027 at 8': '2027-07-01T08:00+02:00',
    'Jul 1st 8am': '2027-07-01T08:00+02:00', '1 jan': '2028-01-01T00:00+01:00',
    'on 11 January 9:00': '2028-01-11T09:00+01:00', '25 march 18:00': '2027-03-25T18:00+01:00',
    '2027-07-01 08:00 UTC': '2027-07-01T08:00+00:00', 'tomorrow 9:00 UTC': '2027-03-26T09:00+00:00',
    '2027-07-01 08:00 UTC+2': '2027-07-01T06:00+00:00', '17:00 UTC-3:30': '2027-03-25T20:30+00:00',
    'tomorrow 9:00 America/New_York': '2027-03-26T09:00-04:00', '9:00Z': '2027-03-26T09:00+00:00',
    'next monday Asia/Tokyo': '2027-03-29T00:00+09:00', '9am UTC': '2027-03-26T09:00+00:00',
    # A range of hours looks like a time with an offset.
    'tomorrow 9:00+02:00': '!in the form UTC-11', 'tomorrow 9:00-17:00': '!and the end apart',
    '9:00-11:00': '!in the form UTC-11', '9:00 -17': '!start and the end apart',
    '2030-05-01 09:00-17:00': '!UTC-17 is no offset', '9:00 UTC-17': '!UTC-17 is no offset',
    'Wed 2030-05-01 9:00-17:00': '!the start and the end apart',
    'Wed 2030-05-01 9:00+14:00': '2030-04-30T19:00+00:00',
    '9:00 CET': '!may be several time zones',
    '9:00 EST': '!may be several time zones', '9:00 Europe/Berln': '!such as Europe/Berlin',
    # The clocks go from 2:00 to 3:00 in March, and from 3:00 to 2:00 in October.
    '2027-03-28 01:59': '2027-03-28T00:59+00:00', '2027-03-28 03:00': '2027-03-28T01:00+00:00',
    '2027-03-28 02:00': '!02:00 does not exist on 2027-03-28',
    'sunday 2:30': '!write 01:30 or 03:30',
    '2027-10-31 01:59': '2027-10-30T23:59+00:00', '2027-10-31 02:30': '2027-10-31T00:30+00:00',
    '2027-10-31 02:30 UTC+1': '2027-10-31T01:30+00:00',
    '2027-10-31 03:00': '2027-10-31T02:00+00:00',
    '': '!write "tomorrow 9:00"', 'soon': '!write "tomorrow 9:00"', '2h': '!write "in 2h"',
    '90m': '!write "in 90m"', 'half an hour': '!write "in half an hour"', '-1h': '!write',
    'in -1h': '!longer than zero', 'in 0h': '!longer than zero', '+0h': '!longer than zero',
    'in 2 months': '!no fixed length', 'in a year': '!write', '+1y': '!no fixed length',
    '3 months ago': '!no fixed length', 'in 3M': '!minutes or months', 'in': '!write',
    '+2': '2027-03-25T14:20:02+01:00', '+2x': '!write 90m', '++2h': '!write', '- 2h': '!write',
    'midnight': '!either end of a day', 'tomorrow midnight': '!either end of a day',
    'next week': '!a week has many moments', 'next month': '!a month has many moments',
    '01.05.2030': '!write the date as 2030-05-01', '05/01/2030 8:00': '!write the date as',
    '9': '!write the time of day as 9:00', '9.30': '!write', '9h': '!write "in 9h"',
    '25:00': '!from 0:00 to 23:59:59', '9:60': '!from 0:00', '24:00': '!from 0:00', '9:5': '!write',
    '13pm': '!from 1 to 12', '0am': '!from 1 to 12', '2027-02-30': '!no such day',
    '30 feb': '!no such day', '2027-13-01': '!no such day', '2027-07-01T24:00': '!write',
    'tomorow 9:00': '!write', '1700000000': '!write', '２027-07-01': '!write', 'x' * 500: '!write',
    '2027-07-01+02:00': '!write', '2027-07-01x08:00': '!write',
    '+99999999999d': '!the year must be',
    'tomorrow 9:00 nonsense': '!write', 'morgen 9:00': '!write', 'friday friday': '!write',
}
_NEW_YORK = {
    # It is Saturday evening here, and Sunday in UTC. Tonight the clocks are put forward.
    'today': '2027-03-13T00:00-05:00', 'tomorrow': '2027-03-14T00:00-05:00',
    'tomorrow 9:00': '2027-03-14T09:00-04:00', '9:00': '2027-03-14T09:00-04:00',
    '23:00': '2027-03-13T23:00-05:00', '21:00': '2027-03-14T21:00-04:00',
    'in 12h': '2027-03-14T10:30-04:00', 'monday 9:00': '2027-03-15T09:00-04:00',
    'sunday 3:00': '2027-03-14T03:00-04:00', '2:30': '!02:30 does not exist on 2027-03-14',
    'tomorrow 2am': '!write 01:00 or 03:00', 'next sunday': '!may be 2027-03-14 or 2027-03-21',
    '2027-11-07 01:30': '2027-11-07T01:30-04:00', '2027-11-07 02:00': '2027-11-07T02:00-05:00',
    '2027-11-07 01:30 UTC-5': '2027-11-07T01:30-05:00', 'jul 4 noon': '2027-07-04T12:00-04:00',
    '9:00 Europe/Berlin': '2027-03-14T09:00+01:00',
}
_NEW_YORK_PUT_FORWARD = {
    # Ten minutes after the clocks were put forward, from 2:00 to 3:00.
    '2:30': '2027-03-15T02:30-04:00', '3:10': '2027-03-15T03:10-04:00',
    '1:30': '2027-03-15T01:30-04:00', '3:30': '2027-03-14T03:30-04:00',
}
_NEW_YORK_TWICE = {
    # Between the first and the second 1:30 of the night in which the clocks are put back.
    '1:30': '2027-11-07T01:30-05:00', '1:50': '2027-11-07T01:50-04:00',
    '1:15': '2027-11-07T01:15-05:00', '2:00': '2027-11-07T02:00-05:00',
    '0:30': '2027-11-08T00:30-05:00', 'in 1h': '2027-11-07T01:45-05:00',
}
_KOLKATA = {
    'tomorrow 9:00': '2027-01-02T09:00+05:30', '17:00': '2027-01-01T17:00+05:30',
    '4:00': '2027-01-02T04:00+05:30', 'next monday': '2027-01-04T00:00+05:30',
    'next friday': '2027-01-08T00:00+05:30', 'friday': '!today is Friday',
    '2027-07-01 08:00': '2027-07-01T08:00+05:30', '9am UTC': '2027-01-01T09:00+00:00',
    '1 january': '2027-01-01T00:00+05:30', '31 dec 23:59': '2027-12-31T23:59+05:30',
}
# The clocks move by half an hour here.
_LORD_HOWE = {
    '2027-10-03 01:59': '2027-10-03T01:59+10:30', '2027-10-03 02:15': '!write 01:45 or 02:45',
    '2027-10-03 02:30': '2027-10-03T02:30+11:00', '2027-04-04 01:45': '2027-04-04T01:45+11:00',
    '2027-04-04 01:45 UTC+10:30': '2027-04-04T01:45+10:30',
    '2027-04-04 02:00': '2027-04-04T02:00+10:30', 'tomorrow 9:00': '2027-04-04T09:00+10:30',
    '9:00': '2027-04-04T09:00+10:30', 'in 1d': '2027-04-04T21:00+10:30',
}
_UTC = {
    'tomorrow 9:00': '2028-02-29T09:00+00:00', '29 feb': '2028-02-29T00:00+00:00',
    'tue 9:00': '2028-02-29T09:00+00:00', '2028-02-29': '2028-02-29T00:00+00:00',
    '2029-02-29': '!no such day', 'day after tomorrow': '2028-03-01T00:00+00:00',
    '2028-03-26 02:30': '2028-03-26T02:30+00:00', 'next tuesday': '!may be 2028-02-29 or',
    '9999-12-31 23:59 UTC-5': '!the year must be from 1970',
}
CASES = [Case(zone, now, text, expected) for zone, now, texts in (
    ('Europe/Berlin', '2027-03-25T13:20:00Z', _BERLIN),
    ('America/New_York', '2027-03-14T02:30:00Z', _NEW_YORK),
    ('America/New_York', '2027-03-14T07:10:00Z', _NEW_YORK_PUT_FORWARD),
    ('America/New_York', '2027-11-07T05:45:00Z', _NEW_YORK_TWICE),
    ('Asia/Kolkata', '2027-01-01T00:00:00Z', _KOLKATA),
    ('Australia/Lord_Howe', '2027-04-03T10:30:00Z', _LORD_HOWE),
    ('UTC', '2028-02-28T12:00:00Z', _UTC)) for text, expected in texts.items()]
# Texts that are read after a moment: the end after the start.
AFTER = [(Case('Europe/Berlin', '2027-03-25T13:20:00Z', text, expected), start)
         for start, text, expected in (
    ('2027-03-26T08:00:00Z', '17:00', '2027-03-26T17:00+01:00'),
    ('2027-03-26T08:00:00Z', '9:00', '2027-03-27T09:00+01:00'),
    ('2027-03-29T07:00:00Z', 'friday 17:00', '2027-04-02T17:00+02:00'),
    ('2027-03-29T07:00:00Z', 'monday 17:00', '2027-03-29T17:00+02:00'),
    ('2027-03-29T07:00:00Z', 'monday 8:00', '2027-04-05T08:00+02:00'),
    ('2027-03-29T07:00:00Z', 'tomorrow 9:00', '2027-03-26T09:00+01:00'),
    ('2027-03-26T08:00:00Z', 'next monday', '2027-03-29T00:00+02:00'),
    ('2027-03-28T22:00:00Z', 'next monday', '2027-04-05T00:00+02:00'),
    ('2027-12-30T08:00:00Z', '2 january', '2028-01-02T00:00+01:00'),
    ('2027-10-31T00:30:00Z', '2:30', '2027-10-31T02:30+01:00'),
    ('2027-03-27T12:00:00Z', '2:30', '!does not exist on 2027-03-28'))]
