package dev.doorbell.verbs;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A function of the control path that leaves the reason of a failure in {@code errno}, which the
 * generated bindings cannot ask for. Calls are not fast: their arguments are boxed.
 */
final class NativeFunction {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO_OFFSET =
      STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  private final String name;
  private final MethodHandle handle;

  /**
   * @param address where the function is
   * @param descriptor its arguments and result
   */
  NativeFunction(
      String name, MemorySegment address, FunctionDescriptor descriptor, Linker.Option... options) {
    this.name = name;
    Linker.Option[] all = new Linker.Option[options.length + 1];
    System.arraycopy(options, 0, all, 1, options.length);
    all[0] = Linker.Option.captureCallState("errno");
    this.handle = LINKER.downcallHandle(address, descriptor, all);
  }

  /** What a call answered, and errno after it. */
  record Answer(Object value, int errno) {
    /** The result as a pointer. */
    MemorySegment pointer() {
      return (MemorySegment) value;
    }

    /** The error number of a function that answers 0, an error number, or -1 and errno. */
    int error() {
      int status = ((Number) value).intValue();
      return status < 0 ? errno : status;
    }
  }

  Answer call(Object... arguments) {
    return java.util.Objects.requireNonNull(invoke(arguments), name);
  }

  private @Nullable Answer invoke(Object... arguments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment state = arena.allocate(STATE);
      List<Object> all = new ArrayList<>(arguments.length + 1);
      all.add(state);
      all.addAll(List.of(arguments));
      Object value = handle.invokeWithArguments(all);
      return value == null
          ? null
          : new Answer(value, state.get(ValueLayout.JAVA_INT, ERRNO_OFFSET));
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(name, e);
    }
  }

  /** Makes a call that answers nothing. */
  void callVoid(Object... arguments) {
    invoke(arguments);
  }

  /**
   * The pointer that the call answers.
   *
   * @param what cannot be done when it is null, and how to mend it
   */
  MemorySegment pointer(Failure what, Object... arguments) {
    Answer answer = call(arguments);
    if (answer.pointer().address() == 0) {
      throw failure(what, answer.errno(), arguments);
    }
    return answer.pointer();
  }

  /** Makes the call and expects 0. */
  void require(Failure what, Object... arguments) {
    int error = call(arguments).error();
    if (error != 0) {
      throw failure(what, error, arguments);
    }
  }

  HcaException failure(Failure what, int errno, Object... arguments) {
    List<String> shown = new ArrayList<>();
    for (Object argument : arguments) {
      shown.add(
          switch (argument) {
            case MemorySegment segment -> "0x" + Long.toHexString(segment.address());
            case Integer number -> "0x" + Integer.toHexString(number);
            case Long number -> "0x" + Long.toHexString(number);
            default -> argument.toString();
          });
    }
    return new HcaException(
        "cannot %s: %s(%s) answers %s; %s"
            .formatted(
                what.what(),
                name,
                String.join(", ", shown),
                Errno.describe(errno),
                what.fix().apply(errno)),
        errno);
  }

  /**
   * What a refusal means.
   *
   * @param what cannot be done
   * @param fix what mends it, by error number
   */
  record Failure(String what, java.util.function.IntFunction<String> fix) {
    static Failure of(String what, String fix) {
      return new Failure(what, errno -> fix);
    }
  }
}
