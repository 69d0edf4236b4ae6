#!/usr/bin/env bash
# Sees to a Docker engine: one that answers, or Debian's, started here as root.
#
# Prints the process id of an engine that it started, for whoever will end it, and nothing if one
# answered already. Exits 3 with the reason if none can be had.
set -euo pipefail
state=/var/tmp/evidence-lookup-engine # images stay here for the next time
running=/run/evidence-lookup-engine

cannot_be_had() {
  echo "no Docker engine can be had here: $1" >&2
  exit 3
}

answers() { docker version >/dev/null 2>&1; }

if answers; then exit; fi
[ "$(id -u)" = 0 ] || cannot_be_had "none answers, and only root can start one"
if ! command -v dockerd >/dev/null || ! command -v docker >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io iptables; } \
    >/dev/null 2>&1 || cannot_be_had "Debian's docker.io cannot be installed"
  if answers; then exit; fi # the package starts it where there is an init system
fi

mkdir -p "$state" "$running"
# Left by an engine that was ended by force; the number may be another process' by now.
rm -f "$running"/pid "$running"/containerd/*.pid
# Ports are published on loopback unless a container says otherwise.
setsid dockerd --data-root "$state/data" --exec-root "$running" --pidfile "$running/pid" \
  --ip 127.0.0.1 >"$state/log" 2>&1 </dev/null &
engine=$!
for _ in $(seq 150); do
  if answers; then
    echo "$engine"
    exit
  fi
  kill -0 "$engine" 2>/dev/null || break
  sleep 0.2
done
kill "$engine" 2>/dev/null || true
cannot_be_had "dockerd does not start: $(grep -v level=info "$state/log" | tail -n1)"
