package dev.doorbell.interop.shim.gpu;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An event: how often it was recorded, and how many of the recordings a stream has reached. */
final class EventState {
  long recorded;

  /** Whose stream recorded it last; without a stream there is nothing to wait for. */
  @Nullable GpuProgram recorder;

  long reached;

  /** The kernels that the last recording came after: see {@link StreamQueue#kernels}. */
  Set<Object> kernels = Set.of();

  long nanos;

  boolean isReached() {
    return reached >= recorded;
  }
}
