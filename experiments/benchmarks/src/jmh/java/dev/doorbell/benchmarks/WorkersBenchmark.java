package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Two launches of {@code put_rate} on queue pairs of their own, by one host thread and by two: what
 * a second worker brings where nothing is shared. Needs two cores that do nothing else.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"-Xmx2g", "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
public class WorkersBenchmark {
  private static final int LAUNCHES = 2;
  private static final int THREADS = 256;
  private static final long POSTS = 1 << 18;
  private static final long MINUTE = 60_000_000_000L;

  /** Host threads that run blocks. */
  @Param({"1", "2"})
  public int workers = 1;

  /** Counters besides rounds. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Counters {
    /** Work requests posted, by both launches. */
    public long posts;

    /** PTX instructions executed, by both launches. */
    public long instructions;
  }

  private final DirectFabric fabric = new DirectFabric();
  private final List<Poster> posters = new ArrayList<>();

  /** Makes the queue pairs and loads the kernel. */
  @Setup(Level.Trial)
  public void prepare() {
    VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0), VmOptions.defaults().withWorkers(workers));
    KernelCatalogue catalogue = KernelCatalogue.load();
    Kernel kernel =
        gpu.load("put_rate", catalogue.ptx(catalogue.find("put_rate").orElseThrow()))
            .kernel("put_rate");
    for (int i = 0; i < LAUNCHES; i++) {
      posters.add(new Poster(fabric, gpu, kernel, 64 + i, THREADS, POSTS));
    }
  }

  /** Both launches, from the start of the first to the end of the last. */
  @Benchmark
  public boolean round(Counters counters) {
    List<Launch> launches = new ArrayList<>();
    for (Poster poster : posters) {
      launches.add(poster.start());
    }
    RunOutcome outcome =
        fabric.run(
            () -> {
              boolean done = true;
              for (Launch launch : launches) {
                done &= launch.done();
              }
              return done;
            },
            MINUTE);
    for (Launch launch : launches) {
      launch.check();
      counters.posts += POSTS;
      counters.instructions += launch.instructions();
    }
    return outcome == RunOutcome.DONE;
  }

  /** Gives the memory back. */
  @TearDown
  public void close() {
    fabric.close();
  }
}
