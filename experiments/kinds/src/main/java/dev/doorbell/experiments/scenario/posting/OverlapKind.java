package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Some blocks communicate while the others compute, in one kernel or in two, with a stream each. A
 * sample is the same grid three times: with work for the computing blocks, with messages for the
 * communicating ones, and with both. The results of the computation are compared as well as the
 * messages.
 */
public final class OverlapKind extends ExperimentKind<OverlapKind.Settings> {
  /** Multiply-adds of one round of the kernel. */
  static final int STEPS_OF_ROUND = 32;

  private static final String KERNEL = "put_overlap";
  private static final int FACTOR = 1_664_525;
  private static final int ADDEND = 1_013_904_223;

  enum Streams {
    ONE,
    TWO,
    PUT_FIRST,
    COMPUTE_FIRST;

    GpuStream.Priority priority(Streams first) {
      return this == first ? GpuStream.Priority.HIGHEST : GpuStream.Priority.USUAL;
    }
  }

  record Settings(
      Point point, PosterSettings posters, int communicating, long work, Streams streams) {
    int putters() {
      return communicating * posters.threads();
    }
  }

  public OverlapKind() {
    super("kernel: " + KERNEL, "DB-P026", Settings.class);
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    Settings of = run.settings();
    int samples = of.point.launches();
    double[] overlap = new double[samples];
    long[] computing = new long[samples];
    long[] sending = new long[samples];
    long[] together = new long[samples];
    long puts = of.posters.putsOfThread(of.putters(), run.backend());
    try (PutBench bench =
        new PutBench(run, of.posters, of.posters.endpoint(false, 1), of.putters())) {
      Grid grid = new Grid(of, bench);
      for (int i = run.onGpu() ? -1 : 0; i < samples; i++) {
        long alone = grid.nanos(0, of.work);
        long sent = grid.nanos(puts, 0);
        long both = grid.nanos(puts, of.work);
        if (i >= 0) {
          computing[i] = alone;
          sending[i] = sent;
          together[i] = both;
          overlap[i] = (double) (alone + sent - both) / Math.min(alone, sent);
        }
      }
    }
    Stream.of(
            Samples.of("overlap", "", overlap),
            Samples.of("computing", "ns", computing),
            Samples.of("communicating", "ns", sending),
            Samples.of("together", "ns", together))
        .filter(one -> run.asksFor(one.metric()))
        .forEach(run::add);
  }

  private static final class Grid {
    private final Settings of;
    private final PutBench bench;
    private final KernelJob kernel;

    /** Puts, where the other one only computes; null: that one does both. */
    private final @Nullable KernelJob putting;

    private final Memory results;

    Grid(Settings of, PutBench bench) {
      this.of = of;
      this.bench = bench;
      int computing = of.posters.blocks() - of.communicating;
      if (of.streams == Streams.ONE) {
        kernel = bench.kernel(KERNEL);
        putting = null;
      } else {
        kernel = kernel(computing, Streams.COMPUTE_FIRST);
        putting = kernel(of.communicating, Streams.PUT_FIRST);
      }
      this.results =
          kernel.allocate(
              MemoryKind.DEVICE, (long) of.posters.allThreads() * Integer.BYTES, "results");
    }

    private KernelJob kernel(int blocks, Streams first) {
      return bench.kernel(KERNEL, of.posters.grid(blocks), of.streams.priority(first));
    }

    long nanos(long messages, long rounds) throws PointFailure {
      results.fill(0, results.size(), (byte) 0);
      JobView job = bench.job(messages, 0);
      job.operand = rounds;
      job.inbox = results.address();
      KernelJob second = putting;
      if (second == null) {
        job.role = of.communicating;
        return bench.launch(kernel, job, messages > 0, () -> miscomputed(rounds, of.putters()));
      }
      JobView puts = bench.job(messages, 0);
      puts.role = of.communicating;
      // The kernel that computes is the first: what puts finds the multiprocessors taken.
      return bench.launch(kernel, job, second, puts, messages > 0, () -> miscomputed(rounds, 0));
    }

    /** Describes the first wrong result; threads compute from {@code from} on. */
    private @Nullable String miscomputed(long rounds, int from) {
      ByteBuffer found =
          ByteBuffer.wrap(results.getBytes(0, (int) results.size())).order(ByteOrder.LITTLE_ENDIAN);
      int[] step = steps(rounds * STEPS_OF_ROUND);
      int end = from + of.posters.allThreads() - of.putters();
      for (int thread = from; thread < end; thread++) {
        int wanted = thread * step[0] + step[1];
        int value = found.getInt(thread * Integer.BYTES);
        if (value != wanted) {
          return "thread %d computed 0x%08x instead of 0x%08x".formatted(thread, value, wanted);
        }
      }
      return null;
    }
  }

  /** Factor and addend of {@code count} steps at once, modulo 2^32. */
  static int[] steps(long count) {
    int factor = 1;
    int addend = 0;
    int power = FACTOR;
    int offset = ADDEND;
    for (long left = count; left > 0; left >>= 1) {
      if ((left & 1) != 0) {
        addend = addend * power + offset;
        factor *= power;
      }
      offset = offset * power + offset;
      power *= power;
    }
    return new int[] {factor, addend};
  }
}
