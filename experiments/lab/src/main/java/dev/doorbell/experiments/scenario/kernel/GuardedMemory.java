package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.memory.Memory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Memory for messages to arrive in, zero at first, between guards that no message may write. */
public final class GuardedMemory {
  public static final int GUARD = 64;

  private static final byte GUARD_BYTE = (byte) 0xA5;

  private final Memory memory;
  private final int guard;
  private final int bytes;

  /**
   * Fills the guards.
   *
   * @param memory of {@code bytes} and a guard on either side
   * @param guard bytes of a guard
   * @param bytes between the guards
   */
  public GuardedMemory(Memory memory, int guard, int bytes) {
    this.memory = memory;
    this.guard = guard;
    this.bytes = bytes;
    memory.fill(0, memory.size(), GUARD_BYTE);
    clear();
  }

  /** Sets what lies between the guards to zero. */
  public void clear() {
    memory.fill(guard, bytes, (byte) 0);
  }

  /** Address of the first byte between the guards. */
  public long address() {
    return memory.address() + guard;
  }

  Memory whole() {
    return memory;
  }

  public byte[] content() {
    return memory.getBytes(guard, bytes);
  }

  /** The first byte that differs from {@code expected} or, in a guard, was written; or null. */
  public @Nullable String mismatch(byte[] expected) {
    byte[] found = memory.getBytes(0, (int) memory.size());
    byte[] wanted = new byte[found.length];
    Arrays.fill(wanted, GUARD_BYTE);
    System.arraycopy(expected, 0, wanted, guard, bytes);
    int at = Arrays.mismatch(found, wanted);
    return at < 0
        ? null
        : "byte %d of the inbox%s: 0x%02x instead of 0x%02x"
            .formatted(
                at - guard,
                at < guard || at >= guard + bytes ? " (outside the message)" : "",
                found[at] & 0xff,
                wanted[at] & 0xff);
  }
}
