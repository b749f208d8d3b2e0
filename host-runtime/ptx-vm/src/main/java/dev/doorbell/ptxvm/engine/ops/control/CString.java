package dev.doorbell.ptxvm.engine.ops.control;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Zero-terminated strings of a kernel. */
final class CString {
  private static final int LONGEST = 1 << 16;

  private CString() {}

  /** Reads a string; every byte is checked. */
  static String read(AddressSpace memory, long address) {
    byte[] bytes = new byte[64];
    int length = 0;
    while (length < LONGEST) {
      if (!memory.accessible(address + length, 1)) {
        throw memory.fault("read of a string", address + length, 1);
      }
      byte b = RawMemory.getByte(address + length);
      if (b == 0) {
        break;
      }
      if (length == bytes.length) {
        bytes = Arrays.copyOf(bytes, length * 2);
      }
      bytes[length++] = b;
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }
}
