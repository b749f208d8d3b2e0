#!/usr/bin/env bash
# Runs a command as root in User-Mode Linux with Soft-RoCE; standard input and output are the command's.
#
#   run-uml.sh [--cable PORT] COMMAND ARGUMENT...
#
# The guest sees this machine's whole root directory, read-only; what it writes is kept in its memory and lost.
# --cable gives it an Ethernet device vec0 whose frames travel in datagrams to UDP port PORT of 127.0.0.1, which
# must be open already; answers go to the port that they come from. Exit status: the command's; 4 when User-Mode
# Linux is not built; 124 when the command took longer than DOORBELL_GUEST_SECONDS (300).
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=cache.sh
. "$here/cache.sh"
cable=
if [[ ${1:-} == --cable ]]; then
  cable=$2
  shift 2
fi
[[ $# -gt 0 ]] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$("$here/build-uml.sh" --where)
[[ -x $program ]] || { printf '%s is missing; build it with %s/build-uml.sh\n' "$program" "$here" >&2; exit 4; }
PACKAGES=busybox-static need busybox

out=$(mktemp -d "${TMPDIR:-/tmp}/doorbell-uml.XXXXXX")
trap 'rm -rf "$out"' EXIT
guest_command "$@" >"$out/command"

options=()
if [[ -n $cable ]]; then
  exec 9<>"/dev/udp/127.0.0.1/$cable"
  options+=("vec0:transport=fd,fd=9,mac=02:00:00:00:00:02,depth=64,mtu=4200")
fi
# UML keeps the guest's memory in a file below TMPDIR and executes it: one in memory is the fast place, where
# that is allowed (containers often have it noexec).
if [[ -w /dev/shm ]] && ! grep -q '^[^ ]* /dev/shm [^ ]* [^ ]*noexec' /proc/mounts; then
  export TMPDIR=/dev/shm
fi
status=0
timeout -k 5 "${DOORBELL_GUEST_SECONDS:-300}" "$program" mem="${DOORBELL_GUEST_MEMORY:-512M}" \
  root=/dev/root rootfstype=hostfs hostfs=/ ro init="$here/guest-init.sh" guestout="$out" \
  con=null con0=fd:0,fd:1 quiet "${options[@]}" || status=$?
[[ -e $out/status ]] && exit "$(cat "$out/status")"
((status == 124 || status == 137)) && exit 124
printf 'the guest left no status; User-Mode Linux ended with %d\n' "$status" >&2
exit 125
