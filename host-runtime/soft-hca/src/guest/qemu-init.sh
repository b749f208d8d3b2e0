#!/bin/busybox sh
# /init of the QEMU guest: the modules, in the order of their names; then the host's root and what both guests share.
b=/bin/busybox
$b mkdir -p /proc /host
$b mount -t proc none /proc
for module in /modules/*.ko; do
  $b insmod "$module" || echo "error insmod $module"
done
for word in $($b cat /proc/cmdline); do
  case $word in guestinit=*) init=${word#guestinit=} ;; esac
done
$b umount /proc
# What is there does not change while the guest runs, so the guest may believe its cache.
$b mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose hostroot /host
exec $b switch_root /host "$init"
