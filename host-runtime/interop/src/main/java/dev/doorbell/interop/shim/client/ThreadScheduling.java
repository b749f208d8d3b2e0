package dev.doorbell.interop.shim.client;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Sets how Linux schedules the serving thread. Programs that poll keep every core busy, so that the
 * thread has to take one from them for a moment, thousands of times a second.
 */
public final class ThreadScheduling {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;

  /**
   * {@code struct sched_attr}: its size, policy at 4, nice value at 16, and the slice in
   * nanoseconds at 24.
   */
  private static final int ATTRIBUTE_BYTES = 56;

  private static final int POLICY = 4;
  private static final int NICE = 16;
  private static final int RUNTIME = 24;

  /** The shortest slice that Linux gives: of two threads, that with the shorter one goes first. */
  private static final long SLICE_NANOS = 100_000;

  /** So that programs that poll on every core do not take half of the thread's time. */
  private static final int NICE_VALUE = -15;

  private static final int SCHED_OTHER = 0;

  private ThreadScheduling() {}

  /**
   * Sets the calling thread's timer slack to 1 ns instead of 50 us, and asks for short slices,
   * which Linux has from 6.12 on, and for a nice value that only a privileged process gets. What
   * the system refuses stays as it was.
   */
  public static void preferThisThread() {
    LinuxCalls linux = new LinuxCalls();
    try (Arena call = Arena.ofConfined()) {
      MemorySegment attributes = call.allocate(ATTRIBUTE_BYTES, Long.BYTES);
      long at = attributes.address();
      if (linux.setTimerSlack(1) == 0
          && linux.scheduling(at, ATTRIBUTE_BYTES) == 0
          && attributes.get(INT, POLICY) == SCHED_OTHER) {
        attributes.set(LONG, RUNTIME, SLICE_NANOS);
        linux.schedule(at);
        attributes.set(INT, NICE, NICE_VALUE);
        linux.schedule(at);
      }
    }
  }
}
