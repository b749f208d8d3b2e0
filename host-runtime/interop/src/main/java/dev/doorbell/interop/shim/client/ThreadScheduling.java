package dev.doorbell.interop.shim.client;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Sets how Linux schedules the serving thread. Programs that poll keep every core busy, so that the
 * thread has to take one from them for a moment, thousands of times a second.
 */
@SuppressWarnings("restricted")
public final class ThreadScheduling {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final int PR_SET_TIMERSLACK = 29;

  // Numbers of the calls that libc has no functions for.
  private static final boolean IS_X86 = System.getProperty("os.arch").equals("amd64");
  private static final long SCHED_SETATTR = IS_X86 ? 314 : 274;
  private static final long SCHED_GETATTR = IS_X86 ? 315 : 275;

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
    try (Arena call = Arena.ofConfined()) {
      MethodHandle prctl = find("prctl", FunctionDescriptor.of(INT, INT, LONG, LONG, LONG, LONG));
      int slack = (int) prctl.invokeExact(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
      MethodHandle syscall =
          find("syscall", FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG));
      MemorySegment attributes = call.allocate(ATTRIBUTE_BYTES, Long.BYTES);
      long at = attributes.address();
      long size = ATTRIBUTE_BYTES;
      long read = (long) syscall.invokeExact(SCHED_GETATTR, 0L, at, size, 0L);
      if (slack == 0 && read == 0 && attributes.get(INT, POLICY) == SCHED_OTHER) {
        attributes.set(LONG, RUNTIME, SLICE_NANOS);
        long ignored = (long) syscall.invokeExact(SCHED_SETATTR, 0L, at, 0L, 0L);
        attributes.set(INT, NICE, NICE_VALUE);
        ignored = (long) syscall.invokeExact(SCHED_SETATTR, 0L, at, 0L, 0L);
      }
    } catch (Throwable e) {
      throw e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
    }
  }

  private static MethodHandle find(String name, FunctionDescriptor function) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), function, Linker.Option.firstVariadicArg(1));
  }
}
