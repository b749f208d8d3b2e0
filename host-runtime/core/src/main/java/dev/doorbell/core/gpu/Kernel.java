package dev.doorbell.core.gpu;

/** An entry point of a module. */
public interface Kernel {
  /** The module it belongs to. */
  GpuModule module();

  /** Its name in the PTX. */
  String name();

  /** Bytes of its parameter block. */
  int parameterBytes();

  /** Byte offset of parameter {@code index} in the block. */
  int parameterOffset(int index);

  /** Bytes of parameter {@code index}, without what aligns the next one. */
  int parameterBytes(int index);

  /** The number of parameters. */
  int parameters();
}
