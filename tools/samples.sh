#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Write the files that are made from the code: the sample configuration, the sample policy, the
# picture of a lease's states, and the table of its events.
#
#   tools/samples.sh           write them
#   tools/samples.sh --check   write nothing; fail where one differs from what the code says
#
# VENV names the virtualenv whose tools are used, .venv by default.
set -euo pipefail
export LC_ALL=C.UTF-8 PYTHONHASHSEED=0 PYTHONWARNINGS=ignore

cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=${VENV:-.venv}/bin

case ${1:-} in
    '') check=false ;;
    --check) check=true ;;
    *) echo "usage: tools/samples.sh [--check]" >&2; exit 2 ;;
esac

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

"$bin/oslo-config-generator" --config-file etc/climate/climate-config-generator.conf \
    --output-file "$made/climate.conf.sample"
"$bin/oslopolicy-sample-generator" --config-file etc/climate/climate-policy-generator.conf \
    --output-file "$made/policy.yaml.sample"
"$bin/python" -c 'from climate.domain import lifecycle; print(lifecycle.as_dot(), end="")' \
    > "$made/lease.dot"
"$bin/python" -c 'from climate.domain import event_kinds; print(event_kinds.as_csv(), end="")' \
    > "$made/events.csv"

"$bin/python" -c 'from climate.domain import notification_kinds as k; print(k.as_csv(), end="")' \
    > "$made/notification-kinds.csv"

status=0
for target in etc/climate/climate.conf.sample etc/climate/policy.yaml.sample \
    doc/source/contributor/lease.dot doc/source/contributor/events.csv \
    doc/source/user/notification-kinds.csv; do
    fresh=$made/$(basename "$target")
    if ! $check; then
        cat "$fresh" > "$target"
    elif ! diff -u "$target" "$fresh"; then
        echo "$target is not what the code says: run tools/samples.sh (make samples)." >&2
        status=1
    fi
done
exit $status
