#!/usr/bin/env bash
# Makes a QEMU guest with Soft-RoCE of the kernel that Debian built, and prints the path of that kernel.
#
#   build-qemu.sh [--where]    --where only prints the path that a build leaves
#
# linux-image-amd64 (the cloud image lacks rdma_rxe and 9p) is downloaded and unpacked, never installed; apt
# checks it against Debian's signed index. The kernel's ELF is taken out of its bzImage: QEMU enters it directly,
# which spares the guest seconds of decompression. Beside it stands an initrd of busybox and the modules.
# Ten seconds once; 71 MB are fetched, 68 MB stay.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=cache.sh
. "$here/cache.sh"
PATH=$PATH:/usr/sbin:/sbin
cache=$(guest_cache)
folder=$cache/qemu-$(cat "$here/build-qemu.sh" "$here/qemu-init.sh" | sha256sum | cut -c1-12)
program=$folder/vmlinux
if [[ ${1:-} == --where || -e $program ]]; then
  printf '%s\n' "$program"
  exit
fi

PACKAGES='xz-utils busybox-static cpio kmod' need apt-get dpkg-deb xz busybox cpio depmod modprobe
! ldd "$(command -v busybox)" >/dev/null 2>&1 ||
  { echo 'busybox needs libraries; apt-get install -y --no-install-recommends busybox-static' >&2; exit 4; }
mkdir -p "$folder"
exec 9>"$folder/lock"
flock 9
if [[ -e $program ]]; then # another build finished while this one waited
  printf '%s\n' "$program"
  exit
fi
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }')
[[ -n $package ]] || { echo 'apt knows no linux-image-amd64; this needs Debian on x86-64 and apt-get update' >&2; exit 4; }
apt-get download -q "$package" >&2
mkdir root
dpkg-deb -x "$package"_*.deb root
release=${package#linux-image-}
image=root/boot/vmlinuz-$release

# The bzImage's header (Documentation/arch/x86/boot.rst): setup_sects at 0x1f1, payload_offset and _length at 0x248.
field() { od -An -v "-t$1" -j "$2" -N "${1#u}" "$image" | tr -d ' '; }
start=$((($(field u1 0x1f1) + 1) * 512 + $(field u4 0x248)))
dd if="$image" bs=64K iflag=skip_bytes,count_bytes skip="$start" count="$(field u4 0x24c)" status=none |
  xz --single-stream -dc >vmlinux ||
  { printf 'the kernel in %s is not packed with xz; this script must follow\n' "$package" >&2; exit 4; }

# Modules in load order, numbered: the guest needs no depmod. Soft-RoCE asks the crypto layer for "crc32".
mkdir -p initrd/bin initrd/modules
cp "$(command -v busybox)" initrd/bin/busybox
cp "$here/qemu-init.sh" initrd/init
depmod -b "$PWD/root" "$release"
for module in virtio_pci 9pnet_virtio 9p overlay virtio_net crc32_generic ib_uverbs rdma_rxe; do
  modprobe -d "$PWD/root" -S "$release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >modules
number=100
while read -r module; do
  cp "$module" "initrd/modules/$number-${module##*/}"
  number=$((number + 1))
done <modules
grep -q rdma_rxe modules || { printf '%s has no rdma_rxe\n' "$package" >&2; exit 4; }
(cd initrd && find . -print0 | cpio --null -o -H newc --quiet | gzip -1) >"$folder/initrd.gz"
mv vmlinux "$program"
printf '%s\n' "$program"
