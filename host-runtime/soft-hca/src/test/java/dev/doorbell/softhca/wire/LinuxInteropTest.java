package dev.doorbell.softhca.wire;

import org.junit.jupiter.api.Tag;

/** Against User-Mode Linux, built from Debian's source: boots in a second, so every run has it. */
@Tag("interop")
class LinuxInteropTest extends LinuxInterop {
  LinuxInteropTest() {
    super(GuestKind.UML);
  }
}
