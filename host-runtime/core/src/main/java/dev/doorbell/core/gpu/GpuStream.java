package dev.doorbell.core.gpu;

/** An order of launches. */
public interface GpuStream extends AutoCloseable {
  /** Priority of blocks that wait for a multiprocessor over those of other streams. */
  enum Priority {
    /** The driver's default, which is its lowest. */
    USUAL,
    /** The highest of the device. Blocks that run already are not interrupted. */
    HIGHEST
  }

  /** True when every launch of the stream is done. */
  boolean idle();

  @Override
  void close();
}
