package dev.doorbell.softhca.wire;

import org.junit.jupiter.api.Tag;

/** Against the kernel that Debian built, instruction by instruction in QEMU: the control. */
@Tag("interop")
@Tag("slow")
class DebianKernelInteropTest extends LinuxInterop {
  DebianKernelInteropTest() {
    super(GuestKind.QEMU);
  }
}
