# SPDX-License-Identifier: Apache-2.0
"""Errors of a request itself: its body, its query, its credentials."""
from climate.errors import base


class BadDate(base.BadRequest):
    # Existing clients look for "is an invalid date. Required format: …" in the message.
    code = 'bad_date'
    template = ('{value} is an invalid date. Required format: %Y-%m-%d %H:%M ({field}: {reason})')


class MissingFields(base.BadRequest):
    # Existing clients look for "Missing parameter" in the message.
    code = 'missing_fields'
    template = 'Missing parameter {fields}'


class UnknownResourceType(base.BadRequest):
    code = 'unknown_resource_type'
    template = 'resource_type: "{resource_type}" is not enabled here; enabled are: {enabled}.'


class MalformedRequirement(base.BadRequest):
    code = 'malformed_requirement'
    template = 'Criteria: {part} cannot be read: {reason}'


class UnknownProperty(base.BadRequest):
    code = 'unknown_property'
    template = 'Criteria: no {pool} has a property "{name}". Known names: {near}.'


class PropertyNameTooLong(base.BadRequest):
    # Existing clients look for "Extra capability key too long".
    code = 'property_name_too_long'
    template = 'Extra capability key too long: "{name}" has {length} characters, at most 64 fit.'


class NotAuthenticated(base.ClimateError):
    status = 401
    code = 'not_authenticated'
    template = 'The request needs valid credentials.'


class WrongScope(base.Forbidden):
    code = 'wrong_scope'
    template = ('The token is {scope}, and Climate needs the token of a project: administrators '
                'need the role admin in a project. Log in with OS_PROJECT_NAME (--os-project-name) '
                'instead of OS_SYSTEM_SCOPE or OS_DOMAIN_NAME.')


class NotAcceptable(base.ClimateError):
    status = 406
    code = 'version_not_served'
    template = 'REST version {version} is not served; served are {minimum} to {maximum}.'


class StalePrecondition(base.ClimateError):
    status = 412
    code = 'stale_precondition'
    template = 'Lease {lease_id} has changed since you read it: read it again.'


class BodyTooLarge(base.ClimateError):
    status = 413
    code = 'body_too_large'
    template = 'The body may have at most {limit} bytes.'


class UnsupportedMediaType(base.ClimateError):
    # Existing clients expect 400, not 415.
    status = 400
    code = 'unsupported_media_type'
    template = 'Content-Type "{content_type}" is not supported: send application/json.'


class KeyReused(base.ClimateError):
    status = 422
    code = 'key_reused'
    template = 'Idempotency-Key "{key}" was used with another body before: choose a new key.'


class TooManyRequests(base.ClimateError):
    status = 429
    code = 'too_many_requests'
    template = ('Your project has {limit} requests in progress, the maximum: try again in '
                '{retry_after} seconds.')
