package dev.doorbell.interop.serve;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * A served HCA whose process says at even times how much memory it takes. Its clients are processes
 * of their own, such as {@link SoakClients}, so that the memory is the server's.
 */
public final class HcaSoak {
  private final HcaServer server;
  private final SoakOptions options;
  private final BooleanSupplier stop;
  private final Consumer<SoakReport.Sample> listener;
  private final List<SoakReport.Sample> samples = new ArrayList<>();
  private final long start = System.nanoTime();

  private HcaSoak(
      HcaServer server,
      SoakOptions options,
      BooleanSupplier stop,
      Consumer<SoakReport.Sample> listener) {
    this.server = server;
    this.options = options;
    this.stop = stop;
    this.listener = listener;
  }

  /**
   * Serves until the time is over. Call it on the thread that created the server.
   *
   * @param stop ends it early; polled many times a second
   * @param listener is given each sample when it is taken
   * @throws EnvironmentException when the system does not say how much memory is resident
   */
  public static SoakReport run(
      HcaServer server,
      SoakOptions options,
      BooleanSupplier stop,
      Consumer<SoakReport.Sample> listener)
      throws EnvironmentException {
    HcaSoak soak = new HcaSoak(server, options, stop, listener);
    try {
      server.run(soak::isOver);
    } catch (UnmeasuredException e) {
      throw new EnvironmentException(
          Problem.of("DB-E045", null, "no soak: " + e.getMessage())
              .effect("there is no result")
              .fix("run it on Linux, whose /proc says which pages are resident"));
    }
    return new SoakReport(soak.samples);
  }

  /** Takes a sample when one is due; true when all have been taken. */
  private boolean isOver() {
    long nanos = System.nanoTime() - start;
    long due = (samples.size() + 1L) * options.duration().toNanos() / options.samples();
    if (nanos >= due) {
      SoakReport.Sample sample =
          new SoakReport.Sample(nanos / 1e9, server.clientsEver(), server.carried(), memory());
      samples.add(sample);
      listener.accept(sample);
    }
    return samples.size() == options.samples() || stop.getAsBoolean();
  }

  private static MemoryUse memory() {
    try {
      return MemoryUse.afterCollection();
    } catch (IOException e) {
      throw new UnmeasuredException(String.valueOf(e.getMessage()));
    }
  }

  /** The system does not say how much memory is resident. */
  private static final class UnmeasuredException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UnmeasuredException(String why) {
      super(why);
    }
  }
}
