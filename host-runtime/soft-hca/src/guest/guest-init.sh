#!/bin/busybox sh
# PID 1 in a guest, User-Mode Linux or QEMU: the host's root, read-only, below a layer in memory; then the command.
b=/bin/busybox
$b mount -t proc none /proc
$b mount -t tmpfs none /mnt
$b mkdir -p /mnt/rw/up /mnt/rw/work /mnt/new
$b mount -t overlay -o lowerdir=/,upperdir=/mnt/rw/up,workdir=/mnt/rw/work overlay /mnt/new
for d in proc sys dev run; do $b mkdir -p /mnt/new/$d; done
$b mount -t proc none /mnt/new/proc
$b mount -t sysfs none /mnt/new/sys
$b mount -t devtmpfs none /mnt/new/dev
$b mkdir -p /mnt/new/dev/pts /mnt/new/dev/shm
$b mount -t tmpfs none /mnt/new/dev/shm
$b mount -t tmpfs none /mnt/new/run
$b ip link set lo up
# The folder that guest and host share: User-Mode Linux names its path, QEMU a tag.
$b mkdir -p /mnt/new/run/out
for word in $($b cat /proc/cmdline); do
  case $word in
    guestout=/*) $b mount -t hostfs -o "${word#guestout=}" none /mnt/new/run/out ;;
    guestout=*) $b mount -t 9p -o trans=virtio,version=9p2000.L "${word#guestout=}" /mnt/new/run/out ;;
  esac
done
# Bytes on the console are the command's own: no echo, no line editing.
$b stty raw -echo 2>/dev/null
exec $b chroot /mnt/new /bin/bash /run/out/command
