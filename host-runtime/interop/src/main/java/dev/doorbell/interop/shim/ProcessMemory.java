package dev.doorbell.interop.shim;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Reads and writes the memory of another process: {@code process_vm_readv} and {@code
 * process_vm_writev} of Linux, for one range a call. It is the other's business whether the memory
 * is there; what is not is an answer, not an error.
 */
@SuppressWarnings("restricted")
final class ProcessMemory {
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final MethodHandle READ = find("process_vm_readv");
  private static final MethodHandle WRITE = find("process_vm_writev");

  private static final MethodHandle PRCTL =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("prctl"),
              FunctionDescriptor.of(INT, INT, LONG, LONG, LONG, LONG),
              Linker.Option.firstVariadicArg(1));

  private static final int PR_SET_TIMERSLACK = 29;

  private final int pid;

  /** Two {@code struct iovec}: ours, theirs. */
  private final MemorySegment vectors = Arena.ofAuto().allocate(4L * Long.BYTES, Long.BYTES);

  private final long ours = vectors.address();
  private final long theirs = ours + 2L * Long.BYTES;

  ProcessMemory(int pid) {
    this.pid = pid;
  }

  private static MethodHandle find(String name) {
    Linker linker = Linker.nativeLinker();
    return linker.downcallHandle(
        linker.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(LONG, INT, LONG, LONG, LONG, LONG, LONG));
  }

  /**
   * Copies {@code bytes} from their {@code address} to native memory of ours.
   *
   * @return false when not all of them can be read
   */
  boolean read(long address, long target, long bytes) {
    aim(target, address, bytes);
    try {
      return (long) READ.invokeExact(pid, ours, 1L, theirs, 1L, 0L) == bytes;
    } catch (Throwable e) {
      throw new IllegalStateException("process_vm_readv", e);
    }
  }

  /**
   * Copies {@code bytes} of native memory of ours to their {@code address}, first byte first.
   *
   * @return false when not all of them can be written
   */
  boolean write(long source, long address, long bytes) {
    aim(source, address, bytes);
    try {
      return (long) WRITE.invokeExact(pid, ours, 1L, theirs, 1L, 0L) == bytes;
    } catch (Throwable e) {
      throw new IllegalStateException("process_vm_writev", e);
    }
  }

  /** Sleeps of the calling thread end when they are meant to, not up to 50 microseconds later. */
  static void wakePunctually() {
    try {
      int refused = (int) PRCTL.invokeExact(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
      if (refused != 0) {
        throw new IllegalStateException("prctl(PR_SET_TIMERSLACK) returned " + refused);
      }
    } catch (RuntimeException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("prctl", e);
    }
  }

  private void aim(long here, long there, long bytes) {
    vectors.set(LONG, 0, here);
    vectors.set(LONG, Long.BYTES, bytes);
    vectors.set(LONG, 2L * Long.BYTES, there);
    vectors.set(LONG, 3L * Long.BYTES, bytes);
  }
}
