package dev.doorbell.interop.shim;

import dev.doorbell.core.problem.EnvironmentException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Compiles the CUDA libraries that programs load in the place of NVIDIA's. */
public final class CudaLibraries {
  private static final String DRIVER = "libcuda.so.1";
  private static final List<String> HEADERS =
      List.of("core.h", "protocol.h", "../uverbs-shim/protocol.h");
  private static final String BESIDE = "-Wl,-rpath,$ORIGIN";

  private CudaLibraries() {}

  /**
   * Compiles what does not exist or is older than its sources.
   *
   * @param sources {@code host-runtime/cuda-shim} of a checkout
   * @param target the folder for the libraries; created if it does not exist
   * @return the folder, which is for {@code LD_LIBRARY_PATH}
   * @throws EnvironmentException when there is no compiler or no source
   */
  public static Path build(Path sources, Path target) throws EnvironmentException {
    NativeBuild build = new NativeBuild(sources, target, "programs see no GPU");
    Path driver =
        build.library(
            DRIVER,
            files(
                "client.c",
                "graphs.c",
                "graph_api.c",
                "memory.c",
                "virtual.c",
                "modules.c",
                "properties.c",
                "driver.c",
                "unserved.c"),
            List.of("-Wl,-soname," + DRIVER, "-ldl"));
    for (int version : List.of(12, 13)) {
      String name = "libcudart.so." + version;
      build.library(
          name,
          files("runtime.c", "graph_api.c", "unserved.c"),
          List.of(
              "-DRUNTIME=" + version,
              "-Wl,-soname," + name,
              "-Wl,--default-symver",
              BESIDE,
              driver.toString()));
    }
    build.library(
        "libnvidia-ml.so.1",
        files("nvml.c"),
        List.of("-Wl,-soname,libnvidia-ml.so.1", BESIDE, driver.toString()));
    return target.toAbsolutePath();
  }

  private static List<String> files(String... sources) {
    List<String> all = new ArrayList<>(List.of(sources));
    all.addAll(HEADERS);
    return all;
  }

  /**
   * The environment variables by which a program finds the libraries.
   *
   * @param folder of {@link #build}
   * @param path the current value of {@code LD_LIBRARY_PATH}, or the empty string
   */
  public static Map<String, String> environment(Path folder, String path) {
    return Map.of("LD_LIBRARY_PATH", path.isEmpty() ? folder.toString() : folder + ":" + path);
  }
}
