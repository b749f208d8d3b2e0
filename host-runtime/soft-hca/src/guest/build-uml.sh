#!/usr/bin/env bash
# Builds User-Mode Linux with Soft-RoCE from Debian's linux-source-6.1 and prints the path of the program.
#
#   build-uml.sh [--where]     --where only prints the path that a build leaves
#
# User-Mode Linux is Linux as an ordinary program: no KVM, no QEMU, no module, no privilege but ptrace. rdma_rxe
# depends on PCI, which UML has by CONFIG_UML_PCI_OVER_VIRTIO. Five minutes once on two cores; 6 MB stay.
# The name of the program holds the hash of this script, so that a changed configuration is built anew.
# DOORBELL_GUEST_JOBS (default: all cores) is make's -j.
set -euo pipefail
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=cache.sh
. "$here/cache.sh"
cache=$(guest_cache)
program=$cache/uml-$(sha256sum "$here/build-uml.sh" | cut -c1-12)/linux
if [[ ${1:-} == --where || -x $program ]]; then
  printf '%s\n' "$program"
  exit
fi

PACKAGES='gcc make flex bison bc xz-utils libc6-dev' need apt-get dpkg-deb gcc make flex bison bc xz strip
mkdir -p "$(dirname "$program")"
exec 9>"$(dirname "$program")/lock"
flock 9
if [[ -x $program ]]; then # another build finished while this one waited
  printf '%s\n' "$program"
  exit
fi
work=$(mktemp -d "$cache/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -q linux-source-6.1 2>&1 | grep -v 'unsandboxed' >&2
mkdir linux
dpkg-deb --fsys-tarfile linux-source-6.1*.deb | tar -xO ./usr/src/linux-source-6.1.tar.xz | xz -dc -T0 |
  tar -x -C linux --strip-components=1
cd linux

# Debian's 6.1 gives the guest's vector registers 2696 bytes, and ptrace takes back none but all of them: a host
# with AMX has 11008. Room for those, stacks that hold it, and the size that the host says.
sed -i 's/DEFINE_LONGS(HOST_FP_SIZE, 2696)/DEFINE_LONGS(HOST_FP_SIZE, 12288)/' arch/x86/um/user-offsets.c
sed -i -e 's/have_xstate_support = 1;/have_xstate_support = iov.iov_len;/' \
  -e '/^int restore_fp_registers/,/^}/s/FP_SIZE \* sizeof(unsigned long)/have_xstate_support/' \
  arch/x86/um/os-Linux/registers.c
grep -q 12288 arch/x86/um/user-offsets.c && grep -q 'iov_len = have_xstate_support' arch/x86/um/os-Linux/registers.c ||
  { echo 'linux-source-6.1 has changed where vector registers are kept; this script must follow' >&2; exit 4; }

# HZ stays 100: a millisecond tick makes everything in UML several times slower.
make -s ARCH=um tinyconfig >/dev/null 2>&1
on=(64BIT PRINTK MULTIUSER BINFMT_ELF BINFMT_SCRIPT FUTEX EPOLL SIGNALFD TIMERFD EVENTFD SHMEM AIO MEMBARRIER
  ADVISE_SYSCALLS POSIX_TIMERS FILE_LOCKING SYSVIPC UNIX98_PTYS TTY SWAP SLUB CC_OPTIMIZE_FOR_PERFORMANCE
  PROC_FS PROC_SYSCTL SYSFS TMPFS TMPFS_XATTR DEVTMPFS OVERLAY_FS HOSTFS STDERR_CONSOLE NULL_CHAN FD_CHAN
  NET UNIX INET IPV6 PACKET NETDEVICES NET_CORE VETH DUMMY IP_ADVANCED_ROUTER IP_MULTIPLE_TABLES
  NET_SCHED NET_SCH_INGRESS NET_CLS NET_CLS_U32 NET_CLS_ACT NET_ACT_GACT GACT_PROB
  UML_NET MAY_HAVE_RUNTIME_DEPS UML_NET_VECTOR VIRTIO_MENU VIRTIO_UML UML_PCI_OVER_VIRTIO PCI
  CRYPTO CRYPTO_CRC32 INFINIBAND INFINIBAND_USER_ACCESS INFINIBAND_ADDR_TRANS RDMA_RXE)
off=(SSL MODULES SLOB CC_OPTIMIZE_FOR_SIZE)
options=(--set-val UML_PCI_OVER_VIRTIO_DEVICE_ID 1234 --set-val KERNEL_STACK_ORDER 4)
for o in "${on[@]}"; do options+=(-e "$o"); done
for o in "${off[@]}"; do options+=(-d "$o"); done
./scripts/config "${options[@]}"
make -s ARCH=um olddefconfig >&2
for o in INFINIBAND_USER_ACCESS RDMA_RXE OVERLAY_FS HOSTFS UML_NET_VECTOR VETH IPV6; do
  grep -q "^CONFIG_$o=y" .config || { printf 'linux-source-6.1 has no usable CONFIG_%s\n' "$o" >&2; exit 4; }
done
make -s ARCH=um -j"${DOORBELL_GUEST_JOBS:-$(nproc)}" >build.log 2>&1 ||
  { grep -E 'rror' build.log | head -n 20 >&2; exit 4; }
strip -o "$program.new" linux
cp .config "$(dirname "$program")/config"
mv "$program.new" "$program"
printf '%s\n' "$program"
