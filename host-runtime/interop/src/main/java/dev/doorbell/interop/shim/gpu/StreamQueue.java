package dev.doorbell.interop.shim.gpu;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.GpuStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;

/** Work of a stream in its order; one piece is under way at a time. */
final class StreamQueue {
  /** Relation of a stream to the default one of its device. */
  enum Kind {
    DEFAULT,
    BLOCKING,
    NON_BLOCKING
  }

  /** A piece of work. */
  @FunctionalInterface
  interface Work {
    /** Begins it, or goes on with it, without blocking; returns true if it has ended. */
    boolean advance() throws CudaException;
  }

  private record Entry(long order, Work work) {}

  final int device;
  final Kind kind;
  final GpuStream launches;
  private final Deque<Entry> entries = new ArrayDeque<>();
  private boolean begun;

  /** The kernels that its next work comes after: see {@link Fabric#launching}. */
  final Set<Object> kernels = new HashSet<>();

  StreamQueue(int device, Kind kind, GpuStream launches) {
    this.device = device;
    this.kind = kind;
    this.launches = launches;
  }

  void add(long order, Work work) {
    entries.add(new Entry(order, work));
  }

  boolean isIdle() {
    return entries.isEmpty();
  }

  /** Order of the work that is first; {@link Long#MAX_VALUE} for none. */
  long first() {
    Entry head = entries.peek();
    return head == null ? Long.MAX_VALUE : head.order;
  }

  /**
   * Advances the first pieces as far as they do not wait.
   *
   * @param before order below which work of related streams has all ended
   */
  void advance(long before) throws CudaException {
    for (Entry head = entries.peek(); head != null; head = entries.peek()) {
      if (!begun && head.order > before) {
        return;
      }
      begun = true;
      if (!head.work.advance()) {
        return;
      }
      begun = false;
      entries.remove();
    }
  }

  /** Drops all work: its program has failed. */
  void clear() {
    entries.clear();
    begun = false;
  }
}
