package dev.doorbell.doctor.facts;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/** Configuration spaces of PCI functions, as the kernel gives them. */
public final class PciTargets {
  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        FuzzTarget.of(
            "pci",
            "configuration spaces of PCI functions",
            () -> List.of(space(64), space(256), space(4096)),
            List.of(new byte[] {0x10, 0x40}, new byte[] {0x0d, 0, 1, 0x10}, new byte[] {0x0f, 0}),
            input ->
                PciConfig.parse(input).equals(PciConfig.UNREAD)
                    ? Outcome.REFUSED
                    : Outcome.ACCEPTED));
  }

  /** PCI Express at 0x40, ACS at 0x100 and ATS at 0x120. */
  private static byte[] space(int bytes) {
    ByteBuffer space = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    space.putShort(6, (short) 0x10).put(0x34, (byte) 0x40).put(0x40, (byte) 0x10);
    space.putInt(0x100, 0x1201_000d).putShort(0x106, (short) 0x1c).putInt(0x120, 0x0001_000f);
    return Arrays.copyOf(space.array(), bytes);
  }
}
