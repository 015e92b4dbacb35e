# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# DevStack plugin: install, configure and run Climate beside Nova, Placement and Keystone.
#
# DevStack sources this file once in each phase, as: plugin.sh <mode> <phase>

function climate_is_enabled {
    is_service_enabled climate-api || is_service_enabled climate-manager
}

function climate_url {
    echo "$CLIMATE_SERVICE_PROTOCOL://$CLIMATE_SERVICE_HOST:$CLIMATE_SERVICE_PORT"
}

function install_climate {
    # Into the same place as Nova, because nova-scheduler and nova-api load the filters from it.
    setup_develop "$CLIMATE_DIR" service
}

# The login of a service user, in a group of a file.
function configure_climate_login {
    local file=$1
    local group=$2
    local user=$3
    iniset "$file" "$group" auth_type password
    iniset "$file" "$group" auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$file" "$group" username "$user"
    iniset "$file" "$group" password "$SERVICE_PASSWORD"
    iniset "$file" "$group" user_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$file" "$group" project_name "$SERVICE_PROJECT_NAME"
    iniset "$file" "$group" project_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$file" "$group" cafile "$SSL_BUNDLE_FILE"
}

function configure_climate {
    local port=$CLIMATE_SERVICE_PORT
    sudo install -d -o "$STACK_USER" "$CLIMATE_CONF_DIR"
    # A file of an earlier run may have options that are not ours any more.
    rm -f "$CLIMATE_CONF"
    touch "$CLIMATE_CONF"

    iniset "$CLIMATE_CONF" DEFAULT debug "$ENABLE_DEBUG_LOG_LEVEL"
    iniset "$CLIMATE_CONF" DEFAULT region_name "$REGION_NAME"
    iniset "$CLIMATE_CONF" DEFAULT plugins "$CLIMATE_PLUGINS"
    iniset "$CLIMATE_CONF" manager minutes_before_end_lease "$CLIMATE_MINUTES_BEFORE_END"
    iniset "$CLIMATE_CONF" database connection "$(database_connection_url climate)"
    iniset_rpc_backend climate "$CLIMATE_CONF"

    if is_service_enabled tls-proxy; then
        port=$CLIMATE_SERVICE_PORT_INT
        iniset "$CLIMATE_CONF" oslo_middleware enable_proxy_headers_parsing True
    fi
    iniset "$CLIMATE_CONF" api host "$(ipv6_unquote "$SERVICE_LISTEN_ADDRESS")"
    iniset "$CLIMATE_CONF" api port "$port"

    configure_keystone_authtoken_middleware "$CLIMATE_CONF" climate
    # [nova], [placement] and [glance] fall back to this login.
    configure_climate_login "$CLIMATE_CONF" keystone climate
    iniset "$CLIMATE_CONF" nova aggregate_freepool "$CLIMATE_FREEPOOL"
    iniset "$CLIMATE_CONF" nova aggregate_owner_key "$CLIMATE_OWNER_KEY"
    iniset "$CLIMATE_CONF" nova availability_zone_prefix "$CLIMATE_ZONE_PREFIX"

    setup_logging "$CLIMATE_CONF"
}

# The two pieces in Nova: how they reach Climate, the names that they share with climate.conf.
function configure_climate_nova {
    local filters=${NOVA_FILTERS:-$(iniget "$NOVA_CONF" filter_scheduler enabled_filters)}
    if [[ ",$filters," != *,ClimateFilter,* ]]; then
        filters="${filters:+$filters,}ClimateFilter"
    fi
    iniset_multiline "$NOVA_CONF" filter_scheduler available_filters \
        nova.scheduler.filters.all_filters climate.nova.filter.ClimateFilter
    iniset "$NOVA_CONF" filter_scheduler enabled_filters "$filters"
    configure_climate_login "$NOVA_CONF" climate nova
    iniset "$NOVA_CONF" climate region_name "$REGION_NAME"
    iniset "$NOVA_CONF" climate aggregate_freepool "$CLIMATE_FREEPOOL"
    iniset "$NOVA_CONF" climate aggregate_owner_key "$CLIMATE_OWNER_KEY"
    iniset "$NOVA_CONF" climate availability_zone_prefix "$CLIMATE_ZONE_PREFIX"
    iniset "$NOVA_CONF" climate default_lease "$CLIMATE_DEFAULT_LEASE"
    iniset "$NOVA_CONF" climate default_lease_days "$CLIMATE_DEFAULT_LEASE_DAYS"
    configure_climate_paste
}

# The WSGI filter, behind keystonecontext in both pipelines of nova-api.
function configure_climate_paste {
    local api pipeline
    iniset "$NOVA_API_PASTE_INI" filter:climate paste.filter_factory \
        climate.nova.middleware:filter_factory
    for api in openstack_compute_api_v21 openstack_compute_api_v21_legacy_v2_compatible; do
        pipeline=$(iniget "$NOVA_API_PASTE_INI" "composite:$api" keystone)
        if [[ " $pipeline " != *" climate "* ]]; then
            iniset "$NOVA_API_PASTE_INI" "composite:$api" keystone \
                "${pipeline/keystonecontext/keystonecontext climate}"
        fi
    done
}

function create_climate_accounts {
    # admin: Climate moves hosts between aggregates, and reads the servers of all projects.
    create_service_user climate admin
    get_or_create_service climate reservation "Climate, the reservation service"
    get_or_create_endpoint reservation "$REGION_NAME" "$(climate_url)/v1"
}

function init_climate {
    recreate_database climate
    "$CLIMATE_BIN_DIR/climate-db" --config-file "$CLIMATE_CONF" upgrade
}

function start_climate {
    if is_service_enabled climate-manager; then
        run_process climate-manager \
            "$CLIMATE_BIN_DIR/climate-manager --config-file $CLIMATE_CONF"
    fi
    if is_service_enabled climate-api; then
        run_process climate-api "$CLIMATE_BIN_DIR/climate-api --config-file $CLIMATE_CONF"
        if is_service_enabled tls-proxy; then
            start_tls_proxy climate '*' "$CLIMATE_SERVICE_PORT" "$CLIMATE_SERVICE_HOST" \
                "$CLIMATE_SERVICE_PORT_INT"
        fi
        if ! wait_for_service "$SERVICE_TIMEOUT" "$(climate_url)/healthcheck"; then
            die $LINENO "climate-api did not become healthy."
        fi
    fi
}

function stop_climate {
    stop_process climate-api
    stop_process climate-manager
}

function cleanup_climate {
    sudo rm -rf "$CLIMATE_CONF_DIR"
}

if climate_is_enabled; then
    case "$1 ${2:-}" in
        'stack install')
            echo_summary 'Installing Climate'
            install_climate
            ;;
        'stack post-config')
            echo_summary 'Configuring Climate'
            configure_climate
            configure_climate_nova
            if is_service_enabled key; then
                create_climate_accounts
            fi
            if is_service_enabled climate-manager; then
                init_climate
            fi
            ;;
        'stack extra')
            echo_summary 'Starting Climate'
            start_climate
            ;;
        'unstack '*)
            stop_climate
            ;;
        'clean '*)
            cleanup_climate
            ;;
    esac
fi
