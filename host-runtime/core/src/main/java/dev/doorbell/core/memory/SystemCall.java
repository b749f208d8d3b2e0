package dev.doorbell.core.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * System calls of Linux by number. All have one form, since the JVM makes code for each form of a
 * function, which takes milliseconds.
 */
@SuppressWarnings("restricted")
public final class SystemCall {
  /** Layout of the memory that a caller gives for {@code errno}. */
  public static final StructLayout STATE = Linker.Option.captureStateLayout();

  /** True on x86; else numbers are those of asm-generic/unistd.h, which ARM has. */
  public static final boolean IS_X86 = System.getProperty("os.arch").equals("amd64");

  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
  private static final MethodHandle SYSCALL =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("syscall"),
              FunctionDescriptor.of(LONG, LONG, LONG, LONG, LONG, LONG, LONG, LONG),
              Linker.Option.captureCallState("errno"),
              Linker.Option.firstVariadicArg(1));

  private SystemCall() {}

  /** Returns the number of a call on this processor. */
  public static int number(int ofX86, int ofArm) {
    return IS_X86 ? ofX86 : ofArm;
  }

  /**
   * Calls the system.
   *
   * @param state for {@code errno}; of this thread alone
   * @return what the call returns, or minus errno
   */
  public static long call(
      MemorySegment state, int number, long a, long b, long c, long d, long e, long f) {
    try {
      long returned = (long) SYSCALL.invokeExact(state, (long) number, a, b, c, d, e, f);
      return returned >= 0 ? returned : -(int) ERRNO.get(state, 0L);
    } catch (RuntimeException | Error failure) {
      throw failure;
    } catch (Throwable failure) {
      throw new IllegalStateException(failure);
    }
  }
}
