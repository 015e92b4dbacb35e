# SPDX-License-Identifier: Apache-2.0
"""The currencies of ISO 4217 that money is paid in, and how many decimals each has."""
import decimal

_TWO = '''
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF
CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG
HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU
MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR
SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED
VES WST XCD XCG YER ZAR ZMW ZWG
'''
_NONE = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF'
_THREE = 'BHD IQD JOD KWD LYD OMR TND'

#: {code: how many decimals its amounts have}.
DECIMALS = {code: count for codes, count in ((_NONE, 0), (_TWO, 2), (_THREE, 3))
            for code in codes.split()}


def amount(minor: int, currency: str) -> str:
    """Return an amount as text with all decimals of its currency, such as "12.40".

    :param minor: the amount in the smallest unit of the currency.
    """
    return str(decimal.Decimal(minor).scaleb(-DECIMALS[currency]))
