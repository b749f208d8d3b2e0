package dev.doorbell.verbs.library;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;

/** Names of the shared libraries, and the functions of libc that this module calls. */
public final class Libraries {
  /** With its version: the name without one exists only where the headers are installed. */
  public static final String VERBS = "libibverbs.so.1";

  public static final String MLX5 = "libmlx5.so.1";

  private static final NativeFunction CLOSE =
      new NativeFunction(
          "close",
          Linker.nativeLinker().defaultLookup().findOrThrow("close"),
          FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

  private Libraries() {}

  /** Closes a file descriptor. */
  public static void close(int fd) {
    CLOSE.require(
        NativeFunction.Failure.of("close file descriptor " + fd, "this is a fault in Doorbell"),
        fd);
  }
}
