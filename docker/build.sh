#!/usr/bin/env bash
# Builds the images of the integration tests, from package registries alone where no image registry is reached.
#
# An image whose parts cannot be had is named in one line, and the others are built all the same;
# one that breaks for another reason ends this with an error. What is there already is left alone.
set -euo pipefail
cd "$(dirname "$0")"
official=debian:bookworm-slim
made=evidence-lookup-test/base:bookworm
cannot_be_had=3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

is_here() { docker image inspect "$1" >/dev/null 2>&1; }

base() {
  if is_here "$made"; then
    echo "$made"
  elif is_here "$official" || docker pull -q "$official" >/dev/null 2>&1; then
    echo "$official"
  else
    ./make-base.sh "$made" && echo "$made"
  fi
}

docker_build() { # NAME ARGUMENT..., with the whole output shown only if it fails
  local name=$1
  shift
  docker build --force-rm --network=host --build-arg "BASE_IMAGE=$base_image" "$@" >"$work/$name.log" 2>&1
}

fetch() { # NAME: what comes over the network, into the build context or a first stage
  if [ -x "$1/fetch.sh" ]; then
    "$1/fetch.sh" "$work/$1" 2>"$work/$1.log"
  else
    docker_build "$1" --target fetched "$work/$1" || return "$cannot_be_had"
  fi
}

reason() { # NAME: the line of its log that says most
  sed 's/\x1b\[[0-9;]*m//g' "$work/$1.log" | grep . >"$work/plain.log"
  grep -m1 ERROR "$work/plain.log" || tail -n1 "$work/plain.log"
}

build() { # NAME TAG
  local name=$1 image=evidence-lookup-test/$1:$2 recipe status=0
  recipe=$(find "$name" -type f | sort | xargs sha256sum | sha256sum | cut -c1-16)
  if [ "$(docker image inspect -f '{{.Config.Labels.recipe}}' "$image" 2>/dev/null)" = "$recipe" ]; then
    echo "$image is here"
    return
  fi
  cp -r "$name" "$work/$name"
  fetch "$name" || status=$?
  if [ "$status" = "$cannot_be_had" ]; then
    echo "$image cannot be had here: $(reason "$name")"
    return
  elif [ "$status" != 0 ] || ! docker_build "$name" --label "recipe=$recipe" -t "$image" "$work/$name"; then
    tail -n40 "$work/$name.log" >&2
    echo "$image does not build" >&2
    exit 1
  fi
  echo "$image is built"
}

if ! base_image=$(base 2>"$work/base.log"); then
  echo "no image can be built here, for want of a base: $(reason base)"
  exit 0
fi
build postgres 18
build milvus 2.3.5
build elasticsearch 9.5.0
