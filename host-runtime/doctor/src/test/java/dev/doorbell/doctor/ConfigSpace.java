package dev.doorbell.doctor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** PCI config space as hardware lays it out, built field by field. */
public final class ConfigSpace {
  static final int ENDPOINT = 0;
  static final int ROOT_PORT = 4;
  static final int UPSTREAM = 5;
  static final int DOWNSTREAM = 6;

  private static final int EXPRESS = 0x60;
  private static final int EXTENDED = 0x150;

  private final int portType;
  private int payload = 256;
  private int payloadSupported = 512;
  private int readRequest = 4096;
  private boolean relaxedOrdering = true;
  private boolean extendedTags = true;
  private boolean tenBitTags = true;
  private int extendedId;
  private int extendedControl;
  private int visible = 4096;

  public ConfigSpace(int portType) {
    this.portType = portType;
  }

  ConfigSpace payload(int bytes) {
    payload = bytes;
    return this;
  }

  ConfigSpace readRequest(int bytes) {
    readRequest = bytes;
    return this;
  }

  ConfigSpace strictOrdering() {
    relaxedOrdering = false;
    return this;
  }

  ConfigSpace fewTags() {
    extendedTags = false;
    return this;
  }

  ConfigSpace noTenBitTags() {
    tenBitTags = false;
    return this;
  }

  ConfigSpace acs(int control) {
    extendedId = 0x0d;
    extendedControl = control;
    return this;
  }

  ConfigSpace ats(boolean on) {
    extendedId = 0x0f;
    extendedControl = on ? 0x8000 : 0;
    return this;
  }

  /** Returns the part that a process without privileges sees. */
  ConfigSpace visible(int bytes) {
    visible = bytes;
    return this;
  }

  public byte[] bytes() {
    ByteBuffer space = ByteBuffer.allocate(4096).order(ByteOrder.LITTLE_ENDIAN);
    space.put(0x34, (byte) 0x40);
    // A power management capability comes first, as in most devices.
    space.put(0x40, (byte) 0x01).put(0x41, (byte) EXPRESS);
    space.put(EXPRESS, (byte) 0x10);
    space.putShort(EXPRESS + 2, (short) (portType << 4 | 2));
    space.putInt(EXPRESS + 4, code(payloadSupported) | 1 << 5);
    space.putShort(
        EXPRESS + 8,
        (short)
            ((relaxedOrdering ? 1 << 4 : 0)
                | code(payload) << 5
                | (extendedTags ? 1 << 8 : 0)
                | code(readRequest) << 12));
    space.putInt(EXPRESS + 0x24, 1 << 17);
    space.putShort(EXPRESS + 0x28, (short) (tenBitTags ? 1 << 12 : 0));
    // Advanced error reporting, then what was asked for.
    space.putInt(0x100, (extendedId == 0 ? 0 : EXTENDED) << 20 | 2 << 16 | 0x0001);
    space.putInt(EXTENDED, 1 << 16 | extendedId);
    space.putShort(EXTENDED + 6, (short) extendedControl);
    return Arrays.copyOf(space.array(), visible);
  }

  private static int code(int bytes) {
    return Integer.numberOfTrailingZeros(bytes / 128);
  }
}
