package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.RankBuffers;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
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
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Virtual time: kernels on emulated GPUs send messages to their ranks' neighbours, over software
 * HCAs and the timed fabric, all on one core. Every rank sends as many messages whatever the number
 * of ranks, so that {@code nanosPerPut} shows what more ranks cost.
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

  /** A rank sends to so many before it and behind it. */
  private static final int NEIGHBOURS = 3;

  private static final long DEADLINE = 1_000_000_000L;
  private static final double NANOS = 1e9;
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

  /** GPUs, each with an HCA and a kernel for each neighbour. */
  @Param({"8", "32", "64", "256"})
  public int ranks = 8;

  /** Bytes of a put. */
  @Param({"64", "7168"})
  public int bytes = 64;

  private final Topology topology = topology();

  /**
   * Cost of an iteration's exchanges; building the world is not counted. Seconds are those of CPU
   * time of the thread that runs the fabric. JMH prints them after each iteration; its table at the
   * end adds up the iterations.
   */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Counters {
    private long puts;
    private long events;
    private long cpuNanos;

    /** Begins an iteration. */
    @Setup(Level.Iteration)
    public void clear() {
      puts = 0;
      events = 0;
      cpuNanos = 0;
    }

    /** Puts that were made. */
    public long puts() {
      return puts;
    }

    /** Nanoseconds of CPU time of a put. */
    public double nanosPerPut() {
      return (double) cpuNanos / puts;
    }

    /** Events of a put. */
    public double eventsPerPut() {
      return (double) events / puts;
    }

    /** Puts in a second of CPU time. */
    public double putsPerSecond() {
      return puts * NANOS / cpuNanos;
    }

    /** Events in a second of CPU time. */
    public double eventsPerSecond() {
      return events * NANOS / cpuNanos;
    }
  }

  private static Topology topology() {
    try {
      return TopologyFile.load("same-switch");
    } catch (ConfigException e) {
      throw new IllegalStateException(e.problems().toString(), e);
    }
  }

  /** One world, in which every rank sends each of its neighbours 8 messages. */
  @Benchmark
  public long exchange(Counters counters) {
    try (Owned open = new Owned()) {
      World world =
          open.add(new WorldBuilder(new ExecutionBackend.Virtual(), topology).ranks(ranks).open());
      List<Supplier<Launch>> starts = new ArrayList<>();
      for (int one = 0; one < ranks; one++) {
        for (int distance = 1; distance <= NEIGHBOURS; distance++) {
          int other = (one + distance) % ranks;
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
