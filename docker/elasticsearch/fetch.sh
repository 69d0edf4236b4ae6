#!/usr/bin/env bash
# Usage: fetch.sh FOLDER. Lays elasticsearch/ and jdk/ into FOLDER, or exits 3 with the reason on the standard error.
set -euo pipefail
folder=$1
version=9.5.0
least_java=21 # what Elasticsearch 9 needs

cannot_be_had() {
  echo "$1" >&2
  exit 3
}

# The newest JDK of the machine: the archive brings none, and needs all modules of one.
java_major() { "$1/bin/java" -version 2>&1 | sed -nE 's/.* version "([0-9]+).*/\1/p'; }
newest=0
for home in ${JAVA_HOME:+"$JAVA_HOME"} /usr/lib/jvm/*; do
  [ -x "$home/bin/javac" ] || continue
  major=$(java_major "$home")
  if [ "${major:-0}" -gt "$newest" ]; then newest=$major jdk=$home; fi
done
[ "$newest" -ge "$least_java" ] || cannot_be_had "no JDK of $least_java or later (JAVA_HOME, /usr/lib/jvm)"

if ! command -v mvn >/dev/null; then
  [ "$(id -u)" = 0 ] || cannot_be_had "no mvn, and not root to install it"
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends maven; } >/dev/null 2>&1 ||
    cannot_be_had "no mvn, and Debian's maven cannot be installed"
fi
artifact=org.elasticsearch.distribution.integ-test-zip:elasticsearch:$version:zip
mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.9.0:unpack \
  -Dartifact="$artifact" -DoutputDirectory="$folder/unpacked" -DmarkersDirectory="$folder" >"$folder/mvn.log" 2>&1 ||
  cannot_be_had "mvn gives no $artifact: $(grep -m1 ERROR "$folder/mvn.log")"
mv "$folder/unpacked/elasticsearch-$version" "$folder/elasticsearch"
rmdir "$folder/unpacked"

# Links lead outside in Debian's own JDK.
mkdir "$folder/jdk"
tar -C "$jdk" --exclude=./lib/src.zip --exclude=./man --exclude=./jmods --exclude=./docs -ch . | tar -C "$folder/jdk" -x
