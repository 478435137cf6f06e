# Checks the files around the server. Tools/test sources this file after prepare.sh.

# check_contract: asks foldback-server with random requests whether it does what openapi.yaml says.
check_contract() {
    need python3 "command -v python3"
    need python3-venv "python3 -c 'import ensurepip'"
    local bin data pid
    bin="$(server build --show-bin-path 2>/dev/null)"
    data=$(mktemp -d)
    # The server refuses names that are not its own.
    env -u FOLDBACK_TEST_EFFORT FOLDBACK_DATA="$data" FOLDBACK_LISTEN=127.0.0.1:0 \
        FOLDBACK_ADMIN_LISTEN=127.0.0.1:0 "$bin/foldback-server" >"$data.log" 2>&1 &
    pid=$!
    local address="" status=0
    for _ in $(seq 100); do
        address=$(sed -n 's/^listening on //p' "$data.log")
        [ -z "$address" ] || break
        sleep 0.1
    done
    Tools/Server/Tests/schemathesis.sh "$address" \
        "$(env -u FOLDBACK_TEST_EFFORT FOLDBACK_DATA="$data" "$bin/foldback-server" token checker)" \
        >"$data.checks" 2>&1 || status=$?
    kill -TERM "$pid"
    wait "$pid" || status=$?
    case "$status" in
    0) tail -n 4 "$data.checks" ;;
    # The packages come from PyPI, which some networks do not reach.
    3) status=0 && tail -n 4 "$data.checks" && echo "left out: random requests from openapi.yaml" ;;
    *) cat "$data.checks" "$data.log" >&2 ;;
    esac
    rm -rf "$data" "$data.log" "$data.checks"
    return "$status"
}

# check_service: asks systemd whether the unit is sound, without the program that it starts.
check_service() {
    need systemd "command -v systemd-analyze"
    local folder
    folder=$(mktemp -d)
    sed 's|^ExecStart=.*|ExecStart=/bin/true|' Tools/Server/foldback-server.service \
        >"$folder/foldback-server.service"
    systemd-analyze verify --man=no --recursive-errors=no "$folder/foldback-server.service"
    rm -r "$folder"
    echo "foldback-server.service is sound"
}

# check_proxy: asks nginx whether its example is sound, with a certificate that is made here.
check_proxy() {
    need nginx-light "command -v nginx || test -x /usr/sbin/nginx"
    need openssl "command -v openssl"
    local folder
    folder=$(mktemp -d)
    openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost \
        -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
    sed -e "s|^\( *ssl_certificate \).*|\1$folder/cert.pem;|" \
        -e "s|^\( *ssl_certificate_key \).*|\1$folder/key.pem;|" \
        Tools/Server/nginx.conf.example >"$folder/foldback.conf"
    printf 'pid %s/pid;\nevents {}\nhttp { access_log off; include %s/foldback.conf; }\n' \
        "$folder" "$folder" >"$folder/nginx.conf"
    PATH="$PATH:/usr/sbin" nginx -t -e "$folder/errors" -c "$folder/nginx.conf"
    rm -r "$folder"
}

# need_postgres: what tests of servers over PostgreSQL need.
need_postgres() {
    need postgresql "ls /usr/lib/postgresql/*/bin/initdb"
    need python3-psycopg "/usr/bin/python3 -c 'import psycopg'"
}

# check_backend: an example of a backend in Python keeps the contract, also while things are killed.
check_backend() {
    need_postgres
    local output
    output=$(CONFORM="$(server build --show-bin-path 2>/dev/null)/conform" \
        /usr/bin/python3 Tools/Server/Tests/orders_test.py 2>&1) || {
        echo "$output" >&2
        return 1
    }
    tail -n 3 <<<"$output"
}

check_server_files() {
    check_contract
    check_service
    check_proxy
}
