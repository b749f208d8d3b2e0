package dev.doorbell.experiments.scenario.kind;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Kernels that are launched together over buffers that are laid out, and what they leave there.
 * {@link PointRun#perform} calls the methods in this order.
 */
public interface Trial {
  Fabric fabric();

  /**
   * Loads the kernels and writes their arguments. All of it comes before the first launch: on a
   * real GPU the loading of one kernel may wait for another that runs.
   *
   * @return starts the kernels, one each, in this order
   */
  List<Supplier<Launch>> prepare();

  /** Runs the fabric for at most {@code nanos} on its clock. */
  default RunOutcome advance(BooleanSupplier done, long nanos) {
    return fabric().run(done, nanos);
  }

  /** Time on the fabric's clock between two looks at the deadline and at Ctrl-C. */
  default long sliceNanos() {
    return 200_000;
  }

  /** The first error that a kernel reports in its status words or error record, or null. */
  @Nullable String firstError();

  /** The first difference between what was sent and what arrived, or null. */
  @Nullable String mismatch();

  /** Bytes that {@link #mismatch} has compared. */
  long verifiedBytes();

  /**
   * Launches the kernels outside of a point, and waits until all have ended.
   *
   * @param nanos on the fabric's clock, after which they are stopped
   * @param late reason that stopped kernels give
   * @throws dev.doorbell.core.gpu.GpuException when one does not end well
   */
  default void run(long nanos, String late) {
    List<Launch> launches = prepare().stream().map(Supplier::get).toList();
    if (advance(() -> launches.stream().allMatch(Launch::done), nanos) != RunOutcome.DONE) {
      launches.forEach(launch -> launch.cancel(late));
    }
    launches.forEach(Launch::check);
    fabric().quiesce();
  }

  /** Returns what is wrong with the first of these parts with which something is, or null. */
  static <T> @Nullable String first(Iterable<T> parts, Function<T, @Nullable String> wrong) {
    for (T part : parts) {
      String found = wrong.apply(part);
      if (found != null) {
        return found;
      }
    }
    return null;
  }
}
