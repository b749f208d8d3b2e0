package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.verbs.library.NativeFunction;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;

/**
 * An ordinary page in the place of a doorbell page that libmlx5 has mapped: what is stored to it
 * stays there to be looked at, until it is passed on to the device. For served devices alone.
 */
final class InterposedPage implements AutoCloseable {
  private static final long PAGE = 4096;
  private static final int READ_WRITE = 3;
  private static final int PRIVATE_ANONYMOUS = 0x22;
  private static final int FIXED = 0x10;
  private static final int MAY_MOVE_FIXED = 3;
  private static final NativeFunction MMAP =
      new NativeFunction(
          "mmap",
          Linker.nativeLinker().defaultLookup().findOrThrow("mmap"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));
  private static final NativeFunction MREMAP =
      new NativeFunction(
          "mremap",
          Linker.nativeLinker().defaultLookup().findOrThrow("mremap"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_LONG,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_LONG));

  private final long place;
  private final long device;

  /**
   * @param inPage any address in the doorbell page
   */
  InterposedPage(long inPage) {
    this.place = inPage & -PAGE;
    this.device = map(0, 0);
    move(place, device);
    assertThat(map(place, FIXED)).isEqualTo(place);
  }

  private static long map(long at, int flags) {
    long address =
        (long) MMAP.call(at, PAGE, READ_WRITE, PRIVATE_ANONYMOUS | flags, -1, 0L).value();
    assertThat(address).as("mmap").isPositive();
    return address;
  }

  private static void move(long from, long to) {
    assertThat((long) MREMAP.call(from, PAGE, PAGE, MAY_MOVE_FIXED, to).value())
        .as("mremap")
        .isEqualTo(to);
  }

  /** Empties it. */
  void clear() {
    RawMemory.fill(place, PAGE, (byte) 0);
  }

  /** Repeats at the device what was stored to 8 bytes. */
  void passOn(long address) {
    java.lang.invoke.VarHandle.fullFence();
    RawMemory.putLongOpaque(device + address - place, RawMemory.getLong(address));
  }

  @Override
  public void close() {
    move(device, place);
  }
}
