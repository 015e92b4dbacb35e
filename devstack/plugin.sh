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
    # Into the same place as Nova, because nova-scheduler loads the filter from it.
    setup_develop "$CLIMATE_DIR"
}

# Climate's own login, once for each group that has one.
function configure_climate_login {
    local group=$1
    iniset "$CLIMATE_CONF" "$group" auth_type password
    iniset "$CLIMATE_CONF" "$group" auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$CLIMATE_CONF" "$group" username climate
    iniset "$CLIMATE_CONF" "$group" password "$SERVICE_PASSWORD"
    iniset "$CLIMATE_CONF" "$group" user_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$CLIMATE_CONF" "$group" project_name "$SERVICE_PROJECT_NAME"
    iniset "$CLIMATE_CONF" "$group" project_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$CLIMATE_CONF" "$group" cafile "$SSL_BUNDLE_FILE"
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
    configure_climate_login keystone
    iniset "$CLIMATE_CONF" nova aggregate_freepool "$CLIMATE_FREEPOOL"
    iniset "$CLIMATE_CONF" nova aggregate_owner_key "$CLIMATE_OWNER_KEY"
    iniset "$CLIMATE_CONF" nova availability_zone_prefix "$CLIMATE_ZONE_PREFIX"

    setup_logging "$CLIMATE_CONF"
}

# The scheduler filter, and the names that it shares with climate.conf.
function configure_climate_nova {
    local filters=${NOVA_FILTERS:-$(iniget "$NOVA_CONF" filter_scheduler enabled_filters)}
    if [[ ",$filters," != *,ClimateFilter,* ]]; then
        filters="${filters:+$filters,}ClimateFilter"
    fi
    iniset_multiline "$NOVA_CONF" filter_scheduler available_filters \
        nova.scheduler.filters.all_filters climate.nova.filter.ClimateFilter
    iniset "$NOVA_CONF" filter_scheduler enabled_filters "$filters"
    iniset "$NOVA_CONF" climate aggregate_freepool "$CLIMATE_FREEPOOL"
    iniset "$NOVA_CONF" climate aggregate_owner_key "$CLIMATE_OWNER_KEY"
    iniset "$NOVA_CONF" climate availability_zone_prefix "$CLIMATE_ZONE_PREFIX"
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
