package dev.doorbell.core.gpu;

import dev.doorbell.core.memory.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The arguments of a launch, in order. Each is little-endian bytes of its parameter's size: 4 for
 * {@code .b32}, 8 for {@code .b64}, n for structures by value.
 */
public final class KernelArguments {
  private final List<byte[]> values = new ArrayList<>();

  /** Adds a 32-bit integer. */
  public KernelArguments add(int value) {
    return add(
        ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
  }

  /** Adds a 64-bit integer or an address. */
  public KernelArguments add(long value) {
    return add(
        ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
  }

  public KernelArguments add(Memory memory) {
    return add(memory.address());
  }

  /** Adds a structure passed by value. */
  public KernelArguments add(byte[] structure) {
    values.add(structure.clone());
    return this;
  }

  /**
   * Lays the arguments out as {@code kernel} expects them.
   *
   * @throws GpuException when their number differs from that of the parameters, or a size does
   */
  public byte[] layOut(Kernel kernel) {
    if (values.size() != kernel.parameters()) {
      throw new GpuException(
          "kernel %s takes %d parameters, %d arguments were given"
              .formatted(kernel.name(), kernel.parameters(), values.size()));
    }
    byte[] block = new byte[kernel.parameterBytes()];
    for (int i = 0; i < values.size(); i++) {
      byte[] value = values.get(i);
      if (value.length != kernel.parameterBytes(i)) {
        throw new GpuException(
            "argument %d of kernel %s has %d bytes, its parameter has %d; pass an int for .b32, a long for .b64"
                .formatted(i, kernel.name(), value.length, kernel.parameterBytes(i)));
      }
      System.arraycopy(value, 0, block, kernel.parameterOffset(i), value.length);
    }
    return block;
  }
}
