package dev.doorbell.core.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.OptionalInt;

/**
 * A range of memory that a GPU or the host owns, by the address under which kernels and HCAs know
 * it.
 *
 * <p>The CPU may be unable to address it (a real GPU's memory): hosts read and write it by copy
 * only.
 */
public interface Memory extends AutoCloseable {
  MemoryKind kind();

  /** The address by which kernels, and HCAs that registered it, reach the first byte. */
  long address();

  /**
   * Host address of the first byte in the device that it belongs to, which a GPU of this machine
   * may be able to map ({@code Gpu.mapDeviceRegisters}). It differs from {@link #address} where
   * that names pages of the fabric which stand for the device's: only threads of the fabric are
   * heard there.
   */
  default long deviceAddress() {
    return address();
  }

  /** Its length in bytes. */
  long size();

  /** Copies {@code source} to {@code [offset, offset + source.byteSize())}. */
  void write(long offset, MemorySegment source);

  /** Copies {@code [offset, offset + target.byteSize())} to {@code target}. */
  void read(long offset, MemorySegment target);

  /** Sets {@code [offset, offset + bytes)} to {@code value}. */
  void fill(long offset, long bytes, byte value);

  /**
   * A file descriptor of a dma-buf that holds exactly this memory, by which a driver of another
   * device can reach it; whoever asks closes it.
   *
   * @return empty where there is none: drivers reach the memory by its address then, or not at all
   */
  default OptionalInt exportDmaBuf() {
    return OptionalInt.empty();
  }

  /** Gives the memory back; the address is invalid from then on. Closing twice does nothing. */
  @Override
  void close();

  /** Reads one little-endian 64-bit value. */
  default long getLong(long offset) {
    byte[] bytes = new byte[Long.BYTES];
    MemorySegment segment = MemorySegment.ofArray(bytes);
    read(offset, segment);
    return segment.get(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 0);
  }

  /** Writes one little-endian 64-bit value. */
  default void putLong(long offset, long value) {
    byte[] bytes = new byte[Long.BYTES];
    MemorySegment segment = MemorySegment.ofArray(bytes);
    segment.set(ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), 0, value);
    write(offset, segment);
  }

  default byte[] getBytes(long offset, int length) {
    byte[] bytes = new byte[length];
    read(offset, MemorySegment.ofArray(bytes));
    return bytes;
  }

  default void putBytes(long offset, byte[] bytes) {
    write(offset, MemorySegment.ofArray(bytes));
  }
}
