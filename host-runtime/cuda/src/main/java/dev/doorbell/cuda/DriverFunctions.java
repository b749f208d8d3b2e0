package dev.doorbell.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Collections;

/**
 * Functions of the driver that JCuda 12.6 lacks, and those of the data path, for which JCuda
 * allocates an object per address. Addresses and handles are numbers, results are {@code CUresult}.
 * They share the driver with JCuda; a context must be current on the calling thread.
 */
final class DriverFunctions {
  static final ValueLayout WORD = ValueLayout.JAVA_LONG;
  static final ValueLayout NUMBER = ValueLayout.JAVA_INT;

  private static final MethodType FOUR_WORDS =
      MethodType.methodType(int.class, Collections.nCopies(4, long.class));
  private static final int NON_BLOCKING = 1;

  /** CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD. */
  private static final int DMA_BUF = 1;

  private DriverFunctions() {}

  static int makeCurrent(long context) {
    return call(Own.MAKE_CURRENT, context, 0, 0, 0);
  }

  /** Stores the handle of the current context at {@code out}. */
  static int currentContext(long out) {
    return call(Own.CURRENT, out, 0, 0, 0);
  }

  /** Creates a stream that waits for no other; its handle goes to {@code out}. */
  static int createStream(long out) {
    return call(Own.CREATE, out, NON_BLOCKING, 0, 0);
  }

  static int synchronize(long stream) {
    return call(Own.SYNCHRONIZE, stream, 0, 0, 0);
  }

  static int destroy(long stream) {
    return call(Own.DESTROY, stream, 0, 0, 0);
  }

  /** Copies pinned memory to the device. */
  static int copyIn(long device, long host, long bytes, long stream) {
    return call(Own.COPY_IN, device, host, bytes, stream);
  }

  /** Copies memory of the device to pinned memory. */
  static int copyOut(long host, long device, long bytes, long stream) {
    return call(Own.COPY_OUT, host, device, bytes, stream);
  }

  /**
   * Stores by the stream.
   *
   * @param operations native address of {@code count} CUstreamBatchMemOpParams, 48 bytes each
   */
  static int store(long stream, int count, long operations) {
    return call(Own.STORE, stream, count, operations, 0);
  }

  /**
   * Exports memory of a GPU as a dma-buf.
   *
   * @param out native address that the file descriptor is written to, 4 bytes
   * @param bytes whole pages
   */
  static int exportDmaBuf(long out, long address, long bytes) {
    return call(Own.EXPORT, out, address, bytes, DMA_BUF);
  }

  /** Calls a function that {@link #ofWords} adapted. */
  static int call(MethodHandle function, long first, long second, long third, long fourth) {
    try {
      return (int) function.invokeExact(first, second, third, fourth);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  static RuntimeException unexpected(Throwable e) {
    return switch (e) {
      case Error error -> throw error;
      case RuntimeException runtime -> runtime;
      default -> new IllegalStateException("calling the CUDA driver", e);
    };
  }

  /** A function of up to four numbers as one of four words; it ignores those that it lacks. */
  static MethodHandle ofWords(SymbolLookup library, String name, MemoryLayout... parameters) {
    MethodHandle function = find(library, name, parameters);
    int missing = FOUR_WORDS.parameterCount() - parameters.length;
    return MethodHandles.explicitCastArguments(
        MethodHandles.dropArguments(
            function, parameters.length, Collections.nCopies(missing, long.class)),
        FOUR_WORDS);
  }

  @SuppressWarnings("restricted")
  static MethodHandle find(SymbolLookup library, String name, MemoryLayout... parameters) {
    return Linker.nativeLinker()
        .downcallHandle(library.findOrThrow(name), FunctionDescriptor.of(NUMBER, parameters));
  }

  private static MethodHandle own(String name, MemoryLayout... parameters) {
    return ofWords(own(), name, parameters);
  }

  @SuppressWarnings("restricted")
  private static SymbolLookup own() {
    return SymbolLookup.libraryLookup(CudaProbe.LIBRARY, Arena.global());
  }

  /** The functions of the installed driver: a library under another name may lack some of them. */
  private static final class Own {
    /** Its fifth parameter, flags, is 0. */
    static final MethodHandle EXPORT =
        MethodHandles.explicitCastArguments(
            MethodHandles.insertArguments(
                find(own(), "cuMemGetHandleForAddressRange", WORD, WORD, WORD, NUMBER, WORD),
                4,
                0L),
            FOUR_WORDS);

    static final MethodHandle MAKE_CURRENT = own("cuCtxSetCurrent", WORD);
    static final MethodHandle CURRENT = own("cuCtxGetCurrent", WORD);
    static final MethodHandle CREATE = own("cuStreamCreate", WORD, NUMBER);
    static final MethodHandle SYNCHRONIZE = own("cuStreamSynchronize", WORD);
    static final MethodHandle DESTROY = own("cuStreamDestroy_v2", WORD);
    static final MethodHandle COPY_IN = own("cuMemcpyHtoDAsync_v2", WORD, WORD, WORD, WORD);
    static final MethodHandle COPY_OUT = own("cuMemcpyDtoHAsync_v2", WORD, WORD, WORD, WORD);
    static final MethodHandle STORE = own("cuStreamBatchMemOp_v2", WORD, NUMBER, WORD, NUMBER);
  }
}
