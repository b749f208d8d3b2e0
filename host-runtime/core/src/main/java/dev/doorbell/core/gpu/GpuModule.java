package dev.doorbell.core.gpu;

import dev.doorbell.core.memory.Memory;
import java.util.List;

/** Loaded PTX. Closing it unloads it; no launch of its kernels may be running then. */
public interface GpuModule extends AutoCloseable {
  /** The name given at load. */
  String name();

  /** The entry points, in the order of the file. */
  List<String> entries();

  /**
   * An entry point.
   *
   * @throws GpuException naming the entry points that there are
   */
  Kernel kernel(String entry);

  /**
   * A {@code .global} or {@code .const} variable.
   *
   * @throws GpuException naming the variables that there are
   */
  Memory global(String name);

  @Override
  void close();
}
