#!/usr/bin/env bash
# Runs a command as root in QEMU, on Debian's own kernel; standard input and output are the command's.
#
#   run-qemu.sh [--cable PORT] COMMAND ARGUMENT...
#
# The guest sees this machine's whole root directory, read-only; what it writes is kept in its memory and lost.
# --cable gives it an Ethernet device whose frames travel in datagrams to UDP port PORT of 127.0.0.1, which
# must be open already; answers go to the port that they come from. Every instruction is translated (-accel tcg):
# a host may offer a /dev/kvm on which an unprepared kernel only crawls. Exit status: the command's; 4 when the
# guest is not built; 124 when the command took longer than DOORBELL_GUEST_SECONDS (300).
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=cache.sh
. "$here/cache.sh"
cable=
if [[ ${1:-} == --cable ]]; then
  cable=$2
  shift 2
fi
[[ $# -gt 0 ]] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
kernel=$("$here/build-qemu.sh" --where)
[[ -e $kernel ]] || { printf '%s is missing; make it with %s/build-qemu.sh\n' "$kernel" "$here" >&2; exit 4; }
PACKAGES='qemu-system-x86 busybox-static' need qemu-system-x86_64 busybox

out=$(mktemp -d "${TMPDIR:-/tmp}/doorbell-qemu.XXXXXX")
trap 'rm -rf "$out"' EXIT
guest_command "$@" >"$out/command"

options=()
if [[ -n $cable ]]; then
  exec 9<>"/dev/udp/127.0.0.1/$cable"
  options+=(-netdev dgram,id=cable,local.type=fd,local.str=9
    -device virtio-net-pci,netdev=cable,mac=02:00:00:00:00:02,host_mtu=4200)
fi
status=0
timeout -k 5 "${DOORBELL_GUEST_SECONDS:-300}" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -M q35 -smp 1 \
  -m "${DOORBELL_GUEST_MEMORY:-512M}" -nodefaults -no-user-config -display none -no-reboot \
  -kernel "$kernel" -initrd "${kernel%/*}/initrd.gz" \
  -append "console=ttyS0 loglevel=1 panic=-1 mitigations=off audit=0 guestinit=$here/guest-init.sh guestout=out" \
  -chardev stdio,id=console,signal=off -serial chardev:console \
  -fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
  -device virtio-9p-pci,fsdev=root,mount_tag=hostroot \
  -fsdev local,id=out,path="$out",security_model=none -device virtio-9p-pci,fsdev=out,mount_tag=out \
  "${options[@]}" || status=$?
[[ -e $out/status ]] && exit "$(cat "$out/status")"
((status == 124 || status == 137)) && exit 124
printf 'the guest left no status; QEMU ended with %d\n' "$status" >&2
exit 125
