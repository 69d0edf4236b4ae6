#!/usr/bin/env bash
# Usage: make-base.sh TAG. Makes a slim Debian image from Debian's packages, or exits 3 with the reason.
set -euo pipefail
tag=$1
suite=bookworm

cannot_be_had() {
  echo "$1" >&2
  exit 3
}

[ "$(id -u)" = 0 ] || cannot_be_had "debootstrap needs root"
if ! command -v debootstrap >/dev/null; then
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends debootstrap; } >/dev/null 2>&1 ||
    cannot_be_had "debootstrap cannot be installed"
fi
# The mirror that this machine's own apt uses; the one for security holds no whole suite.
mirror=$(apt-get indextargets --format '$(REPO_URI)' | awk '!/security/ && !found++')

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
  cannot_be_had "debootstrap: $(tail -n1 "$root.log")"
rm "$root.log"

# As in slim images: no documentation, manuals or translations, now or with later packages.
unneeded=(/usr/share/doc /usr/share/man /usr/share/locale)
printf 'path-exclude %s/*\n' "${unneeded[@]}" >"$root/etc/dpkg/dpkg.cfg.d/slim"
rm -rf "${unneeded[@]/#/$root}" "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*

# Builds go out as this machine does: with the certificate authorities that were added to it.
if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
  install -D -m 644 -t "$root/usr/local/share/ca-certificates" /usr/local/share/ca-certificates/*.crt
fi

tar --one-file-system -C "$root" -c . | docker import --change 'CMD ["bash"]' - "$tag" >/dev/null
