#!/usr/bin/env bash
# In a guest: Soft-RoCE on the first Ethernet device, with the address 10.88.0.2, then the peer program.
#
#   peer.sh PEER-PROGRAM
set -euo pipefail
echo booted
device=$(find /sys/class/net -mindepth 1 -maxdepth 1 \( -name 'e*' -o -name 'vec*' \) -printf '%f\n' | sort | head -n 1)
[[ -n $device ]] || { echo 'error no Ethernet device'; exit 1; }
# Path MTU 4096 needs 4200; User-Mode Linux takes it when it boots alone.
[[ $(cat "/sys/class/net/$device/mtu") -ge 4200 ]] || ip link set "$device" mtu 4200
ip link set "$device" up
ip addr add 10.88.0.2/24 dev "$device"
rdma link add rxe0 type rxe netdev "$device"
# The other end learns from a first frame where this one is.
busybox ping -c 1 -W 1 10.88.0.1 >/dev/null || true
for _ in $(seq 50); do # the address's GID appears a moment later
  for entry in /sys/class/infiniband/rxe0/ports/1/gids/*; do
    if grep -q 'ffff:0a58' "$entry" 2>/dev/null; then
      exec "$1" rxe0 "$(basename "$entry")"
    fi
  done
  sleep 0.1
done
echo 'error Soft-RoCE has no GID for 10.88.0.2'
exit 1
