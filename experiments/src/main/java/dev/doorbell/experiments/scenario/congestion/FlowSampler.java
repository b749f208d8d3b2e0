package dev.doorbell.experiments.scenario.congestion;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.transfer.FlowTrial;
import dev.doorbell.push.network.SwitchedNetwork;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs flows and samples them: what has arrived of each, and the queue towards rank 0. */
final class FlowSampler implements Trial {
  private static final long SLICE_NANOS = 5_000;

  private final FlowTrial trial;
  private final List<long[]> arrived = new ArrayList<>();
  private final List<Long> queued = new ArrayList<>();

  FlowSampler(FlowTrial trial) {
    this.trial = trial;
  }

  @Override
  public RunOutcome advance(BooleanSupplier done, long nanos) {
    RunOutcome outcome = trial.advance(done, nanos);
    arrived.add(trial.flows().stream().mapToLong(FlowTrial.Flow::arrived).toArray());
    SwitchedNetwork network = trial.world().network();
    queued.add(network == null ? 0 : network.queued(0));
    return outcome;
  }

  @Override
  public long sliceNanos() {
    return SLICE_NANOS;
  }

  /** Samples of the second half of the time in which all flows run: controls have settled. */
  private int[] settled() {
    long[] last = arrived.getLast();
    int end = 0;
    while (end < arrived.size() - 1 && allRun(arrived.get(end), last)) {
      end++;
    }
    return new int[] {end / 2, Math.max(end / 2 + 1, end)};
  }

  private static boolean allRun(long[] at, long[] last) {
    for (int i = 0; i < at.length; i++) {
      if (at[i] == last[i]) {
        return false;
      }
    }
    return true;
  }

  /** Bytes in the queue towards rank 0, every 5 us of the settled time. */
  double[] queue() {
    int[] time = settled();
    return queued.subList(time[0], Math.min(time[1], queued.size())).stream()
        .mapToDouble(Long::doubleValue)
        .toArray();
  }

  /**
   * Jain's index of the rates of the first {@code flows} flows in the settled time: 1 where all are
   * equal, 1/n where one has everything (Jain, Chiu and Hawe, 1984).
   */
  double fairness(int flows) {
    int[] time = settled();
    long[] from = arrived.get(time[0]);
    long[] to = arrived.get(Math.min(time[1], arrived.size() - 1));
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < flows; i++) {
      double rate = to[i] - from[i];
      sum += rate;
      squares += rate * rate;
    }
    return squares == 0 ? 1 : sum * sum / (flows * squares);
  }

  @Override
  public Fabric fabric() {
    return trial.fabric();
  }

  @Override
  public List<Supplier<Launch>> prepare() {
    return trial.prepare();
  }

  @Override
  public @Nullable String firstError() {
    return trial.firstError();
  }

  @Override
  public @Nullable String mismatch() {
    return trial.mismatch();
  }

  @Override
  public long verifiedBytes() {
    return trial.verifiedBytes();
  }
}
