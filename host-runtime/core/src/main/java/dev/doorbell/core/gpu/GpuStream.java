package dev.doorbell.core.gpu;

/** An order of launches. */
public interface GpuStream extends AutoCloseable {
  /** True when every launch of the stream is done. */
  boolean idle();

  @Override
  void close();
}
