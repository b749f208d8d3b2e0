package dev.doorbell.core.gpu;

/** An entry point of a module. */
public interface Kernel {
  GpuModule module();

  /** Its name in the PTX. */
  String name();

  int parameterBytes();

  /** Byte offset of parameter {@code index} in the block. */
  int parameterOffset(int index);

  /** Bytes of parameter {@code index}, without what aligns the next one. */
  int parameterBytes(int index);

  int parameters();
}
