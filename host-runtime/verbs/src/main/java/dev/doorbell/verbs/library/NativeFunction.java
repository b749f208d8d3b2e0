package dev.doorbell.verbs.library;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A function of the control path that reports the reason of a failure in {@code errno}, which the
 * generated bindings do not capture. Calls are slow: their arguments are boxed.
 */
public final class NativeFunction {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final StructLayout STATE = Linker.Option.captureStateLayout();
  private static final long ERRNO_OFFSET =
      STATE.byteOffset(MemoryLayout.PathElement.groupElement("errno"));

  private final String name;
  private final MethodHandle handle;

  /**
   * @param address native address of the function
   * @param descriptor types of its result and arguments
   */
  public NativeFunction(String name, MemorySegment address, FunctionDescriptor descriptor) {
    this.name = name;
    this.handle =
        LINKER.downcallHandle(address, descriptor, Linker.Option.captureCallState("errno"));
  }

  /**
   * Finds a function in a shared library.
   *
   * @param library file name, as the dynamic linker finds it
   */
  public static NativeFunction of(String library, String name, FunctionDescriptor descriptor) {
    return new NativeFunction(
        name, SymbolLookup.libraryLookup(library, Arena.global()).findOrThrow(name), descriptor);
  }

  /**
   * Finds a function that older libraries lack, or returns null: callers have another way.
   *
   * @param descriptor throws a linkage error where the bindings lack the function
   */
  public static @Nullable NativeFunction find(
      String library, String name, Supplier<FunctionDescriptor> descriptor) {
    try {
      return of(library, name, descriptor.get());
    } catch (ExceptionInInitializerError | NoClassDefFoundError _) {
      return null;
    }
  }

  /** The result of a call, and {@code errno} after it. */
  public record Answer(Object value, int errno) {
    /** The result as a pointer. */
    public MemorySegment pointer() {
      return (MemorySegment) value;
    }

    /** The error number of a function that returns 0, an error number, or -1 and {@code errno}. */
    public int error() {
      int status = ((Number) value).intValue();
      return status < 0 ? errno : status;
    }
  }

  public Answer call(Object... arguments) {
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

  /** Calls a function without a result. */
  public void callVoid(Object... arguments) {
    invoke(arguments);
  }

  /**
   * Calls a function that returns a pointer.
   *
   * @param what cannot be done if the pointer is null, and the fix
   */
  public MemorySegment pointer(Failure what, Object... arguments) {
    Answer answer = call(arguments);
    if (answer.pointer().address() == 0) {
      throw failure(what, answer.errno(), arguments);
    }
    return answer.pointer();
  }

  /** Calls a function that returns 0 on success. */
  public void require(Failure what, Object... arguments) {
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
   * The message for a call that fails.
   *
   * @param what cannot be done
   * @param fix what the user can do, by error number
   */
  public record Failure(String what, java.util.function.IntFunction<String> fix) {
    public static Failure of(String what, String fix) {
      return new Failure(what, errno -> fix);
    }
  }
}
