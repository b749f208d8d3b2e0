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
  private static final long GETTID = IS_X86 ? 186 : 178;
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

  /** Bytes of {@code cpu_set_t}. */
  static final int CORES_BYTES = 128;

  private final MethodHandle setCores =
      find("sched_setaffinity", FunctionDescriptor.of(INT, INT, LONG, LONG));
  private final MemorySegment cores = Arena.ofAuto().allocate(CORES_BYTES, Long.BYTES);
  private final int thread;

  private ThreadScheduling() {
    try (Arena call = Arena.ofConfined()) {
      MethodHandle prctl = find("prctl", FunctionDescriptor.of(INT, INT, LONG, LONG, LONG, LONG));
      int slack = (int) prctl.invokeExact(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
      MethodHandle syscall =
          find("syscall", FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG));
      thread = (int) (long) syscall.invokeExact(GETTID, 0L, 0L, 0L, 0L);
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
      MethodHandle getCores =
          find("sched_getaffinity", FunctionDescriptor.of(INT, INT, LONG, LONG));
      int got = (int) getCores.invokeExact(0, (long) CORES_BYTES, cores.address());
      if (got != 0) {
        cores.fill((byte) 0);
      }
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  private static MethodHandle find(String name, FunctionDescriptor function) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name), function, Linker.Option.firstVariadicArg(1));
  }

  private static RuntimeException failed(Throwable e) {
    return e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
  }

  /**
   * Sets the calling thread's timer slack to 1 ns instead of 50 us, and asks for short slices,
   * which Linux has from 6.12 on, and for a nice value that only a privileged process gets. What
   * the system refuses stays as it was.
   */
  public static ThreadScheduling ofThisThread() {
    return new ThreadScheduling();
  }

  int thread() {
    return thread;
  }

  /** The cores on which it may run, a bit each; none where Linux does not say. */
  MemorySegment cores() {
    return cores.asReadOnly();
  }

  /** Lets it run on all of them again: a program may have moved it to its own. */
  public void useAllCores() {
    try {
      int ignored = (int) setCores.invokeExact(thread, (long) CORES_BYTES, cores.address());
    } catch (Throwable e) {
      throw failed(e);
    }
  }
}
