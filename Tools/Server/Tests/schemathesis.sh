#!/usr/bin/env bash
# Asks a server with random requests whether it does what openapi.yaml says, and fails on a finding.
# It leaves some hundred intents on the server. Exit code 3: Schemathesis could not be installed.
#
#   Tools/Server/Tests/schemathesis.sh URL TOKEN [FOLDER]
#
# TOKEN is a token of an account that may use the space `default`. The packages of schemathesis.txt
# are installed into FOLDER, which is .build/schemathesis without it. SEED=N repeats a run, and
# EXAMPLES=N changes the requests for each operation from 50.
set -euo pipefail
if [[ $# -lt 2 || $# -gt 3 ]]; then
    echo "usage: $(sed -n '5s|^# *||p' "$0")" >&2
    exit 2
fi
url=$1 token=$2
tests=$(cd "$(dirname "$0")" && pwd)
folder=${3:-$tests/../../../.build/schemathesis}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

if ! cmp -s "$tests/schemathesis.txt" "$folder/installed.txt"; then
    echo "installing Schemathesis into $folder"
    python3 -m venv --clear "$folder/venv"
    if ! "$folder/venv/bin/pip" --disable-pip-version-check install --quiet \
        --requirement "$tests/schemathesis.txt"; then
        echo "Schemathesis could not be installed, so the server was not checked." >&2
        exit 3
    fi
    cp "$tests/schemathesis.txt" "$folder/installed.txt"
fi

# Schemathesis writes into the current folder, and finds the hooks by PYTHONPATH.
cd "$folder"
export PYTHONPATH=$tests PYTHONDONTWRITEBYTECODE=1 SCHEMATHESIS_HOOKS=schemathesis_hooks
exec venv/bin/schemathesis run "$tests/../openapi.yaml" --url "$url" \
    --header "Authorization: Bearer $token" --include-tag sync \
    --phases examples,coverage,fuzzing --max-examples "${EXAMPLES:-50}" ${SEED:+--seed "$SEED"} \
    --request-timeout 20 --continue-on-failure --no-color
