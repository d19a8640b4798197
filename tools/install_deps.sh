#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that are not there yet: those that building needs, and those named as
# arguments.
set -euo pipefail

packages=(
  g++ cmake ninja-build
  zlib1g-dev libfmt-dev libhwy-dev libxxhash-dev libcli11-dev
  "$@"
)

if ! command -v dpkg-query > /dev/null; then
  echo "This is not a Debian system. Install by hand what Debian calls: ${packages[*]}" >&2
  exit 0
fi

installed=" $(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2> /dev/null |
  awk '$2 == "installed" { printf "%s ", $1 }' || true)"
missing=()
for package in "${packages[@]}"; do
  [[ $installed == *" $package "* ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo > /dev/null; then
    echo "error: these packages are missing, and installing them takes root or sudo:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "== Installing ${missing[*]}"
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
"${apt_get[@]}" update
"${apt_get[@]}" install --yes --no-install-recommends "${missing[@]}"
