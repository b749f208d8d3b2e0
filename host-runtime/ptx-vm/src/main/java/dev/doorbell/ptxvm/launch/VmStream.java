package dev.doorbell.ptxvm.launch;

import dev.doorbell.core.gpu.GpuStream;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Launches in order: the next starts in the step in which the one before ended. */
final class VmStream implements GpuStream {
  private final Queue<VmLaunch> queued = new ArrayDeque<>();
  private @Nullable VmLaunch running;
  private boolean closed;

  void add(VmLaunch launch) {
    queued.add(launch);
    if (running == null) {
      startNext();
    }
  }

  private void startNext() {
    running = queued.poll();
    if (running != null) {
      running.start();
    }
  }

  /** {@code launch} is done, or was cancelled before it started. */
  void ended(VmLaunch launch) {
    queued.remove(launch);
    if (running != null && running.equals(launch)) {
      startNext();
    }
  }

  @Override
  public boolean idle() {
    VmLaunch current = running;
    while (current != null && current.done()) {
      current = running;
    }
    return running == null;
  }

  boolean isClosed() {
    return closed;
  }

  /** Cancels what still runs or waits. */
  @Override
  public void close() {
    closed = true;
    for (VmLaunch launch : queued.toArray(new VmLaunch[0])) {
      launch.cancel("its stream was closed");
    }
    if (running != null) {
      running.cancel("its stream was closed");
    }
  }
}
