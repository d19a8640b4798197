#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Readies a cross build for arm64: installs Debian's compiler and emulator, and unpacks the arm64
# libraries into build-arm64/sysroot, beside the system and not into it.
set -euo pipefail
cd "$(dirname "$0")/.."

libraries=(
  libhwy-dev libhwy1 zlib1g-dev zlib1g libgtest-dev libgmock-dev librapidcheck-dev
  libfmt-dev libfmt9 libxxhash-dev
)
headers=(libcli11-dev)  # the same for every machine
sysroot=build-arm64/sysroot

tools/install_deps.sh g++-aarch64-linux-gnu qemu-user
[[ ! -e $sysroot/complete ]] || exit 0

as_root=()
[[ $(id -u) -eq 0 ]] || as_root=(sudo)
"${as_root[@]}" dpkg --add-architecture arm64
"${as_root[@]}" apt-get -qq update

rm -rf "$sysroot" build-arm64/packages
mkdir -p "$sysroot" build-arm64/packages
echo "== Unpacking ${libraries[*]} for arm64"
(cd build-arm64/packages && apt-get -qq download "${libraries[@]/%/:arm64}" "${headers[@]}")
for package in build-arm64/packages/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
touch "$sysroot/complete"
