package dev.doorbell.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;

/**
 * Functions of the driver that open other processes' memory and copy it. They need no JCuda.
 * Addresses and handles are numbers; results are {@code CUresult}.
 */
@SuppressWarnings("restricted")
final class SharingFunctions {
  static final int HANDLE_BYTES = 64;
  static final int UUID_BYTES = 16;

  private static final ValueLayout WORD = ValueLayout.JAVA_LONG;
  private static final ValueLayout NUMBER = ValueLayout.JAVA_INT;
  private static final MemoryLayout HANDLE =
      MemoryLayout.structLayout(
          MemoryLayout.sequenceLayout(HANDLE_BYTES, ValueLayout.JAVA_BYTE).withName("reserved"));

  /** Functions that it calls. */
  static final List<String> NEEDED =
      List.of(
          "cuInit",
          "cuDeviceGetCount",
          "cuDeviceGetName",
          "cuDriverGetVersion",
          "cuDeviceGetUuid_v2",
          "cuDevicePrimaryCtxRetain",
          "cuDevicePrimaryCtxRelease_v2",
          "cuCtxSetCurrent",
          "cuStreamCreate",
          "cuStreamSynchronize",
          "cuMemHostAlloc",
          "cuMemFreeHost",
          "cuMemcpyDtoHAsync_v2",
          "cuMemcpyHtoDAsync_v2",
          "cuMemcpyAsync",
          "cuIpcOpenMemHandle_v2",
          "cuIpcCloseMemHandle",
          "cuMemGetAddressRange_v2",
          "cuMemImportFromShareableHandle",
          "cuMemAddressReserve",
          "cuMemAddressFree",
          "cuMemMap",
          "cuMemUnmap",
          "cuMemSetAccess",
          "cuMemRelease",
          "cuGetErrorName");

  private final SymbolLookup library;
  private final MethodHandle makeCurrent;
  private final MethodHandle copyIn;
  private final MethodHandle copyOut;
  private final MethodHandle copy;
  private final MethodHandle synchronize;

  SharingFunctions(String name) {
    this.library = SymbolLookup.libraryLookup(name, Arena.global());
    this.makeCurrent = find("cuCtxSetCurrent", WORD);
    this.copyIn = find("cuMemcpyHtoDAsync_v2", WORD, WORD, WORD, WORD);
    this.copyOut = find("cuMemcpyDtoHAsync_v2", WORD, WORD, WORD, WORD);
    this.copy = find("cuMemcpyAsync", WORD, WORD, WORD, WORD);
    this.synchronize = find("cuStreamSynchronize", WORD);
  }

  private MethodHandle find(String name, MemoryLayout... parameters) {
    return Linker.nativeLinker()
        .downcallHandle(
            library.findOrThrow(name), FunctionDescriptor.of(ValueLayout.JAVA_INT, parameters));
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

  /** The bytes of a handle. */
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

  /** The name of a result. */
  String name(int code) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(ValueLayout.ADDRESS);
      return call("cuGetErrorName", code, out.address()) == CudaErrors.SUCCESS
          ? out.get(ValueLayout.ADDRESS, 0).reinterpret(256).getString(0)
          : "CUresult " + code;
    }
  }

  int makeCurrent(long context) {
    try {
      return (int) makeCurrent.invokeExact(context);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int copyIn(long device, long host, long bytes, long stream) {
    try {
      return (int) copyIn.invokeExact(device, host, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int copyOut(long host, long device, long bytes, long stream) {
    try {
      return (int) copyOut.invokeExact(host, device, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Copies between addresses of any GPUs. */
  int copy(long to, long from, long bytes, long stream) {
    try {
      return (int) copy.invokeExact(to, from, bytes, stream);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  int synchronize(long stream) {
    try {
      return (int) synchronize.invokeExact(stream);
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
}
