package dev.doorbell.interop.shim;

import dev.doorbell.core.problem.EnvironmentException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Compiles the library that programs preload. */
public final class PreloadLibrary {
  private static final String NAME = "libdoorbell-uverbs.so";
  private static final List<String> SOURCES =
      List.of("shim.c", "paths.c", "verbs.c", "gpu.c", "netlink.c", "shim.h", "protocol.h");

  private PreloadLibrary() {}

  /**
   * Compiles the library unless it exists and is newer than its sources.
   *
   * @param sources {@code host-runtime/uverbs-shim} of a checkout
   * @param target the folder for the library; created if it does not exist
   * @return the library
   * @throws EnvironmentException when there is no compiler, no source or no kernel header
   */
  public static Path build(Path sources, Path target) throws EnvironmentException {
    return new NativeBuild(sources, target, "programs see no software HCA")
        .library(NAME, SOURCES, List.of("-std=c11"));
  }

  /**
   * The environment variables by which a program sees a server's devices.
   *
   * @param folder of the {@link ShimServer}
   * @param preloaded the current value of {@code LD_PRELOAD}, or the empty string
   */
  public static Map<String, String> environment(Path library, Path folder, String preloaded) {
    return Map.of(
        "DOORBELL_HCA",
        folder.toAbsolutePath().toString(),
        "LD_PRELOAD",
        preloaded.isEmpty() ? library.toString() : library + ":" + preloaded);
  }
}
