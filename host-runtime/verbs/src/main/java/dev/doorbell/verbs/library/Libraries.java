package dev.doorbell.verbs.library;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;

/** Names of the shared libraries, and the functions of libc that this module calls. */
public final class Libraries {
  /** With its version: the name without one exists only where the headers are installed. */
  public static final String VERBS = "libibverbs.so.1";

  public static final String MLX5 = "libmlx5.so.1";

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

  /** Sets {@code O_NONBLOCK}: reads of the file descriptor fail with EAGAIN instead of waiting. */
  public static void setNonBlocking(int fd) {
    int flags = ((Number) FCNTL.call(fd, F_GETFL, 0).value()).intValue();
    FCNTL.require(
        NativeFunction.Failure.of("poll file descriptor " + fd, "this is a fault in Doorbell"),
        fd,
        F_SETFL,
        flags | O_NONBLOCK);
  }

  /** Closes a file descriptor. */
  public static void close(int fd) {
    CLOSE.require(
        NativeFunction.Failure.of("close file descriptor " + fd, "this is a fault in Doorbell"),
        fd);
  }

  private static java.lang.foreign.MemorySegment libc(String name) {
    return Linker.nativeLinker().defaultLookup().findOrThrow(name);
  }
}
