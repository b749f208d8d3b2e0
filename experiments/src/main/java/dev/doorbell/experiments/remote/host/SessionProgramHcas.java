package dev.doorbell.experiments.remote.host;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.remote.ProgramDevices;
import dev.doorbell.experiments.remote.ProgramHcas;
import dev.doorbell.interop.shim.PreloadLibrary;
import dev.doorbell.interop.shim.ShimServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BooleanSupplier;

/** {@link ProgramHcas} on software HCAs. */
public final class SessionProgramHcas implements ProgramHcas {
  @Override
  public Map<String, String> environment(Path home, Path folder) throws EnvironmentException {
    try {
      Path library =
          PreloadLibrary.build(
              home.resolve("host-runtime/uverbs-shim"), home.resolve("target/uverbs-shim"));
      String preloaded = System.getenv().getOrDefault("LD_PRELOAD", "");
      return PreloadLibrary.environment(library, folder, preloaded);
    } catch (HcaException e) {
      throw new EnvironmentException(
          Problem.of("DB-E048", null, String.valueOf(e.getMessage()))
              .effect("programs cannot be shown an HCA"));
    }
  }

  @Override
  public boolean isServed(Path folder) {
    return ShimServer.isServed(folder);
  }

  @Override
  public ProgramDevices serve(Path folder, int devices) throws EnvironmentException {
    try {
      return new Served(new ShimServer(folder, devices));
    } catch (IOException e) {
      throw new EnvironmentException(
          Problem.of("DB-E049", folder.toString(), "devices cannot be served here: " + e)
              .fix("name a folder of your own with --at; its path may have 90 characters"));
    }
  }

  private record Served(ShimServer server) implements ProgramDevices {
    @Override
    public void run(BooleanSupplier stop) {
      try {
        server.run(stop);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public int connections() {
      return server.connections();
    }

    @Override
    public void close() {
      try {
        server.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
