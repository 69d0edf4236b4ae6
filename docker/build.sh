#!/usr/bin/env bash
# Builds the images of the integration tests, from package registries alone where no image registry is reached.
#
# An image whose parts cannot be had (a download that ends with 3) is named in one line, and the others
# are built all the same; one that breaks for another reason ends this with an error. What is there
# already is left alone.
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
    ./make-base.sh "$made" || return
    echo "$made"
  fi
}

docker_build() { # NAME ARGUMENT...; ends as the command of the image that failed
  local name=$1 status=0
  shift
  docker build --force-rm --network=host --build-arg "BASE_IMAGE=$base_image" "$@" >"$work/$name.log" 2>&1 ||
    status=$?
  # BuildKit ends with 1 whatever failed, and names the command's status.
  if [ "$status" = 1 ] && grep -q "exit code: $cannot_be_had\$" "$work/$name.log"; then
    status=$cannot_be_had
  fi
  return "$status"
}

make() { # NAME TAG RECIPE: lays out what its fetch.sh downloads, if it has one, and builds
  if [ -x "$1/fetch.sh" ]; then
    "$1/fetch.sh" "$work/$1" 2>"$work/$1.log" || return
  fi
  docker_build "$1" --label "recipe=$3" -t "$2" "$work/$1"
}

reason() { # NAME: the line of its log that says most
  sed 's/\x1b\[[0-9;]*m//g' "$work/$1.log" | grep . >"$work/$1.plain"
  grep -m1 -E '^(.* )?(ERROR|E):' "$work/$1.plain" || tail -n1 "$work/$1.plain"
}

build() { # NAME VERSION
  local name=$1 image=evidence-lookup-test/$1:$2 recipe status=0
  recipe=$(find "$name" -type f | sort | xargs sha256sum | sha256sum | cut -c1-16)
  if [ "$(docker image inspect -f '{{.Config.Labels.recipe}}' "$image" 2>/dev/null)" = "$recipe" ]; then
    echo "$image is here"
    return
  fi
  cp -r "$name" "$work/$name"
  make "$name" "$image" "$recipe" || status=$?
  case $status in
    0) echo "$image is built" ;;
    "$cannot_be_had") echo "$image cannot be had here: $(reason "$name")" ;;
    *)
      tail -n40 "$work/$name.log" >&2
      echo "$image does not build" >&2
      return 1
      ;;
  esac
}

status=0
base_image=$(base 2>"$work/base.log") || status=$?
if [ "$status" = "$cannot_be_had" ]; then
  echo "no image can be built here, for want of a base: $(reason base)"
  exit 0
elif [ "$status" != 0 ]; then
  cat "$work/base.log" >&2
  exit 1
fi
# At once: most of the time goes into downloads.
builds=()
for image in "postgres 18" "milvus 2.3.5" "elasticsearch 9.5.0"; do
  # shellcheck disable=SC2086
  build $image &
  builds+=($!)
done
for one in "${builds[@]}"; do
  wait "$one" || status=1
done
exit "$status"
