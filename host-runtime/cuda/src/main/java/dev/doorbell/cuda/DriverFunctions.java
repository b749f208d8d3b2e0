package dev.doorbell.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Collections;
import java.util.List;

/**
 * Functions of the driver that JCuda 12.6 lacks, and those of the data path, for which JCuda
 * allocates an object per address. Addresses and handles are numbers, results are {@code CUresult}.
 * They share the driver with JCuda, but need it not; a context must be current on the calling
 * thread.
 */
@SuppressWarnings("restricted")
final class DriverFunctions {
  static final ValueLayout WORD = ValueLayout.JAVA_LONG;
  static final ValueLayout NUMBER = ValueLayout.JAVA_INT;
  private static final int HANDLE_BYTES = 64;

  private static final MethodType FOUR_WORDS =
      MethodType.methodType(int.class, Collections.nCopies(4, long.class));
  private static final MemoryLayout HANDLE =
      MemoryLayout.structLayout(
          MemoryLayout.sequenceLayout(HANDLE_BYTES, ValueLayout.JAVA_BYTE).withName("reserved"));

  private final SymbolLookup library;
  private final MethodHandle makeCurrent;
  private final MethodHandle copyIn;
  private final MethodHandle copyOut;
  private final MethodHandle copy;
  private final MethodHandle synchronize;

  /**
   * @param library name or path of the driver's library
   */
  DriverFunctions(String library) {
    this.library = SymbolLookup.libraryLookup(library, Arena.global());
    this.makeCurrent = ofWords("cuCtxSetCurrent", WORD);
    this.copyIn = ofWords("cuMemcpyHtoDAsync_v2", WORD, WORD, WORD, WORD);
    this.copyOut = ofWords("cuMemcpyDtoHAsync_v2", WORD, WORD, WORD, WORD);
    this.copy = ofWords("cuMemcpyAsync", WORD, WORD, WORD, WORD);
    this.synchronize = ofWords("cuStreamSynchronize", WORD);
  }

  /** A function of up to four numbers as one of four words; it ignores those that it lacks. */
  MethodHandle ofWords(String name, MemoryLayout... parameters) {
    MethodHandle function = find(name, parameters);
    int missing = FOUR_WORDS.parameterCount() - parameters.length;
    return MethodHandles.explicitCastArguments(
        MethodHandles.dropArguments(
            function, parameters.length, Collections.nCopies(missing, long.class)),
        FOUR_WORDS);
  }

  private MethodHandle find(String name, MemoryLayout... parameters) {
    return Linker.nativeLinker()
        .downcallHandle(library.findOrThrow(name), FunctionDescriptor.of(NUMBER, parameters));
  }

  /** Calls a function that {@link #ofWords} adapted. */
  static int call(MethodHandle function, long first, long second, long third, long fourth) {
    try {
      return (int) function.invokeExact(first, second, third, fourth);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  private static RuntimeException unexpected(Throwable e) {
    return switch (e) {
      case Error error -> throw error;
      case RuntimeException runtime -> runtime;
      default -> new IllegalStateException("calling the CUDA driver", e);
    };
  }

  /** Calls a function whose parameters are numbers: {@code Integer} and {@code Long}. */
  int call(String name, Object... arguments) {
    MemoryLayout[] parameters = new MemoryLayout[arguments.length];
    for (int i = 0; i < parameters.length; i++) {
      parameters[i] = arguments[i] instanceof Integer ? NUMBER : WORD;
    }
    try {
      return (int) find(name, parameters).invokeWithArguments(arguments);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static MemorySegment handle(Arena arena, List<Long> words) {
    MemorySegment bytes = arena.allocate(HANDLE_BYTES, Long.BYTES);
    for (int i = 0; i < words.size(); i++) {
      bytes.setAtIndex(ValueLayout.JAVA_LONG, i, words.get(i));
    }
    return bytes;
  }

  /** {@code cuIpcOpenMemHandle}, whose handle is passed by value. */
  int openHandle(long out, List<Long> handle, int flags) {
    MethodHandle function = find("cuIpcOpenMemHandle_v2", WORD, HANDLE, NUMBER);
    try (Arena arena = Arena.ofConfined()) {
      return (int) function.invokeExact(out, handle(arena, handle), flags);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  String name(int code) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
      return call("cuGetErrorName", code, out.address()) == CudaErrors.SUCCESS
          ? out.get(ValueLayout.ADDRESS, 0).reinterpret(256).getString(0)
          : "CUresult " + code;
    }
  }

  int makeCurrent(long context) {
    return call(makeCurrent, context, 0, 0, 0);
  }

  /** Copies pinned memory to the device. */
  int copyIn(long device, long host, long bytes, long stream) {
    return call(copyIn, device, host, bytes, stream);
  }

  /** Copies memory of the device to pinned memory. */
  int copyOut(long host, long device, long bytes, long stream) {
    return call(copyOut, host, device, bytes, stream);
  }

  /** Copies between addresses of any GPUs. */
  int copy(long to, long from, long bytes, long stream) {
    return call(copy, to, from, bytes, stream);
  }

  int synchronize(long stream) {
    return call(synchronize, stream, 0, 0, 0);
  }
}
