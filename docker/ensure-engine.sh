#!/usr/bin/env bash
# A Docker engine: the one that answers, or Debian's, started here as root. Exits 3 with the reason if none can be had.
#
# With a FOLDER as its argument, an engine that it starts keeps its log and its process id there.
set -euo pipefail
folder=${1:-/var/tmp/evidence-lookup-engine}

cannot_be_had() {
  echo "no Docker engine can be had here: $1" >&2
  exit 3
}

answers() { docker version >/dev/null 2>&1; }

if answers; then exit; fi
[ "$(id -u)" = 0 ] || cannot_be_had "none answers, and only root can start one"
if ! command -v dockerd >/dev/null || ! command -v docker >/dev/null; then
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends docker.io iptables; } >/dev/null 2>&1 ||
    cannot_be_had "Debian's docker.io cannot be installed"
fi
# The package may have started it.
if answers; then exit; fi

mkdir -p "$folder"
# Ports are published on loopback unless a container says otherwise.
setsid nohup dockerd --data-root "$folder/data" --pidfile "$folder/pid" --ip 127.0.0.1 \
  >"$folder/log" 2>&1 </dev/null &
started=$!
for _ in $(seq 150); do
  if answers; then exit; fi
  kill -0 "$started" 2>/dev/null || break
  sleep 0.2
done
kill "$started" 2>/dev/null || true
cannot_be_had "dockerd does not start: $(grep -v level=info "$folder/log" | tail -n1)"
