package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
import dev.doorbell.experiments.topology.TopologyException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Virtual time: an all-to-all of kernels on emulated GPUs, over software HCAs and the timed fabric,
 * all on one core. Divide {@code cpuNanos} by {@code puts} for what a put costs the host, and
 * {@code events} by it for the events a second.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"-Xmx4g", "--enable-native-access=ALL-UNNAMED"})
@Warmup(iterations = 3, time = 5)
@Measurement(iterations = 5, time = 5)
public class TimedBenchmark {
  private static final int DEPTH = 64;
  private static final int MESSAGES = 8;
  private static final long DEADLINE = 1_000_000_000L;
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

  /** GPUs, each with an HCA and a kernel for every other one. */
  @Param({"2", "8", "32"})
  public int ranks = 2;

  /** Bytes of a put. */
  @Param({"64", "7168"})
  public int bytes = 64;

  private final Topology topology = topology();

  /** What is counted besides exchanges; the world's building is not. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Counters {
    /** Puts that completed. */
    public long puts;

    /** Events that the fabric carried out. */
    public long events;

    /** CPU time of the thread that runs the fabric, in nanoseconds. */
    public long cpuNanos;
  }

  private static Topology topology() {
    try {
      return TopologyFile.load("same-switch");
    } catch (TopologyException e) {
      throw new IllegalStateException(e.problems().toString(), e);
    }
  }

  /** One world, in which every rank sends every other one 8 messages. */
  @Benchmark
  public long exchange(Counters counters) {
    try (Owned open = new Owned()) {
      World world =
          open.add(new WorldBuilder(new ExecutionBackend.Virtual(), topology).ranks(ranks).open());
      List<Supplier<Launch>> starts = new ArrayList<>();
      for (int one = 0; one < ranks; one++) {
        for (int other = one + 1; other < ranks; other++) {
          Connection connection =
              open.add(
                  Connection.between(
                      world,
                      one,
                      other,
                      Endpoint.Shape.builder(DEPTH, DEADLINE).exclusive(true).build()));
          RankBuffers first = open.add(new RankBuffers(connection, world.rank(one), bytes, one));
          RankBuffers second =
              open.add(new RankBuffers(connection, world.rank(other), bytes, other));
          starts.add(sender(first, second));
          starts.add(sender(second, first));
        }
      }
      TimedFabric fabric = (TimedFabric) world.fabric();
      long before = fabric.events();
      long begin = CPU.getCurrentThreadCpuTime();
      List<Launch> launches = starts.stream().map(Supplier::get).toList();
      Launch last = launches.getLast();
      RunOutcome outcome =
          fabric.run(() -> last.done() && launches.stream().allMatch(Launch::done), DEADLINE);
      counters.cpuNanos += CPU.getCurrentThreadCpuTime() - begin;
      counters.events += fabric.events() - before;
      counters.puts += (long) launches.size() * MESSAGES;
      launches.forEach(Launch::check);
      if (outcome != RunOutcome.DONE) {
        throw new IllegalStateException("the exchange ended with " + outcome);
      }
      return fabric.now();
    }
  }

  private static Supplier<Launch> sender(RankBuffers from, RankBuffers to) {
    JobView job = new JobView();
    job.iterations = MESSAGES;
    job.scope = JobView.SCOPE_BLOCK;
    job.window = MESSAGES;
    return from.prepare(
        Protocol.ofCatalogue("put_bandwidth"),
        job,
        to,
        LaunchConfig.of(1, 1).withTimeout(DEADLINE));
  }
}
