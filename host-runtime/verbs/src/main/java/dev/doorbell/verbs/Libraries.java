package dev.doorbell.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;

/** Names of the libraries, and what is needed of libc. */
final class Libraries {
  /** Versioned: without it the name is there only beside the headers. */
  static final String VERBS = "libibverbs.so.1";

  static final String MLX5 = "libmlx5.so.1";

  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final NativeFunction FCNTL =
      new NativeFunction(
          "fcntl",
          libc("fcntl"),
          FunctionDescriptor.of(
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT,
              ValueLayout.JAVA_INT),
          Linker.Option.firstVariadicArg(2));

  private static final NativeFunction CLOSE =
      new NativeFunction(
          "close",
          libc("close"),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

  private Libraries() {}

  /** True when the dynamic linker finds {@code name}. */
  static boolean isThere(String name) {
    try (Arena arena = Arena.ofConfined()) {
      return SymbolLookup.libraryLookup(name, arena) != null;
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  /** Makes reads of a file descriptor answer EAGAIN instead of waiting. */
  static void doNotBlock(int fd) {
    int flags = ((Number) FCNTL.call(fd, F_GETFL, 0).value()).intValue();
    FCNTL.require(
        NativeFunction.Failure.of("poll file descriptor " + fd, "this is a fault in Doorbell"),
        fd,
        F_SETFL,
        flags | O_NONBLOCK);
  }

  /** Closes a file descriptor. */
  static void close(int fd) {
    CLOSE.require(
        NativeFunction.Failure.of("close file descriptor " + fd, "this is a fault in Doorbell"),
        fd);
  }

  private static java.lang.foreign.MemorySegment libc(String name) {
    return Linker.nativeLinker().defaultLookup().findOrThrow(name);
  }
}
