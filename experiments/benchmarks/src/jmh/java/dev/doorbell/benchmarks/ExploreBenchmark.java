package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Laboratory;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The checker on {@code put_rate}: PTX instructions a second, with HCAs, races and stale loads. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 1,
    jvmArgsAppend = {"-Xmx2g", "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 5)
@Measurement(iterations = 5, time = 5)
public class ExploreBenchmark {
  private static final long MINUTE = 60_000_000_000L;

  /** Threads of the launch, in blocks of at most 256. */
  @Param({"8", "64", "1024"})
  public int threads = 64;

  /** Posts of each thread: few for short runs, where making the world counts. */
  @Param({"3", "100"})
  public int posts = 3;

  private @Nullable Laboratory laboratory;
  private @Nullable Scenario scenario;
  private long seed;

  /** Counters besides runs. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Counters {
    /** PTX instructions executed. */
    public long instructions;
  }

  /** Finds the laboratory. */
  @Setup
  public void prepare() {
    Laboratory found = new Laboratory();
    int blocks = Math.max(1, threads / 256);
    laboratory = found;
    scenario =
        new Scenario(
            found.kernel("put_rate").orElseThrow(),
            new Scenario.Load(blocks, threads / blocks, posts, 32, 1, 1024, 0, "thread", "pull"),
            new Scenario.Posting("gpu", "gpu", false, false, false, 4),
            new Scenario.Rules(Policy.VENDOR, true));
  }

  /** One run to its end, each with another seed. */
  @Benchmark
  public Outcome run(Counters counters) throws ScenarioException {
    Laboratory where = laboratory;
    Scenario what = scenario;
    if (where == null || what == null) {
      throw new IllegalStateException("not prepared");
    }
    Outcome outcome = where.run(what, ++seed, Laboratory.Extent.of(MINUTE));
    if (outcome.isFinding() || !outcome.finished()) {
      throw new IllegalStateException("seed %d: %s".formatted(seed, outcome));
    }
    counters.instructions += outcome.instructions();
    return outcome;
  }
}
