package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One point: the same grid three times a sample, with work for those who compute, with messages for
 * those who communicate, and with both. What was computed is compared as well as what was sent.
 */
final class OverlapPoint {
  /** Multiply-adds of one round of the kernel. */
  static final int STEPS_OF_ROUND = 32;

  private static final int FACTOR = 1_664_525;
  private static final int ADDEND = 1_013_904_223;
  private static final int SAMPLES = 5;

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final ExecutionBackend backend;
  private final PostingShape shape;
  private final int communicating;
  private final long puts;
  private final long rounds;
  private final List<String> notes = new ArrayList<>();
  private long verified;

  OverlapPoint(Point point, PointContext context, Topology topology, ExecutionBackend backend) {
    this.point = point;
    this.context = context;
    this.topology = topology;
    this.backend = backend;
    this.shape = new PostingShape(point);
    this.communicating = (int) point.whole("communicating");
    this.rounds = point.whole("work");
    this.puts = shape.putsOf(communicating * (int) point.whole("threads"), backend);
  }

  PointResult run() throws PointFailure {
    int samples = Math.min(SAMPLES, point.samples());
    double[] overlap = new double[samples];
    long[] computing = new long[samples];
    long[] sending = new long[samples];
    long[] together = new long[samples];
    LaunchConfig grid = shape.grid();
    int senders = communicating * grid.threadsPerBlock();
    try (World world = Worlds.of(point, topology, backend, shape, notes)) {
      try (Wiring wiring = new Wiring(world, shape);
          Buffers buffers =
              new Buffers(world, shape.payload(), shape.bytes(), senders, point.seed());
          KernelRun kernel =
              new KernelRun(
                  point,
                  context,
                  world.fabric(),
                  world.rank(0).gpu(),
                  OverlapFamily.KERNEL,
                  grid)) {
        Memory results =
            kernel.allocate(
                MemoryKind.DEVICE, (long) shape.threads() * Integer.BYTES, "what was computed");
        int warm = backend instanceof ExecutionBackend.Cuda ? 1 : 0;
        for (int i = -warm; i < samples; i++) {
          long alone = once(kernel, wiring, buffers, results, 0, rounds);
          long sent = once(kernel, wiring, buffers, results, puts, 0);
          long both = once(kernel, wiring, buffers, results, puts, rounds);
          if (i >= 0) {
            computing[i] = alone;
            sending[i] = sent;
            together[i] = both;
            overlap[i] = (double) (alone + sent - both) / Math.min(alone, sent);
          }
        }
      }
    } catch (GpuException e) {
      throw new PointFailure(
          PointFailure.Kind.FAILED,
          Problem.of("DB-P001", point.id(), String.valueOf(e.getMessage())).effect("no result"),
          e);
    }
    List<Samples> all =
        Stream.of(
                Samples.of("overlap", "", overlap),
                Samples.of("computing", "ns", computing),
                Samples.of("communicating", "ns", sending),
                Samples.of("together", "ns", together))
            .filter(one -> point.metrics().contains(one.metric()))
            .toList();
    return new PointResult(backend.basis(), all, new LinkedHashMap<>(Map.of()), verified, notes);
  }

  private long once(
      KernelRun kernel,
      Wiring wiring,
      Buffers buffers,
      Memory results,
      long messages,
      long roundsOfThread)
      throws PointFailure {
    buffers.renew();
    results.fill(0, results.size(), (byte) 0);
    JobView job = shape.job(messages, 0);
    buffers.fillIn(job);
    job.role = communicating;
    job.operand = roundsOfThread;
    job.inbox = results.address();
    long nanos = kernel.run(wiring.views(), job);
    String wrong = messages > 0 ? buffers.mismatch() : null;
    if (wrong == null) {
      wrong = wiring.leftOver();
    }
    if (wrong == null) {
      wrong = miscomputed(results, roundsOfThread);
    }
    if (wrong != null) {
      throw new PointFailure(
          PointFailure.Kind.MISMATCH,
          Problem.of("DB-P002", point.id(), wrong).effect("the point has no result"));
    }
    verified += messages > 0 ? buffers.bytes() : 0;
    return nanos;
  }

  private @Nullable String miscomputed(Memory results, long roundsOfThread) {
    byte[] found = results.getBytes(0, (int) results.size());
    int first = communicating * (int) point.whole("threads");
    int[] step = steps(roundsOfThread * STEPS_OF_ROUND);
    for (int thread = first; thread < shape.threads(); thread++) {
      int wanted = thread * step[0] + step[1];
      int at = thread * Integer.BYTES;
      int value = ByteBuffer.wrap(found).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
      if (value != wanted) {
        return "thread %d computed 0x%08x instead of 0x%08x".formatted(thread, value, wanted);
      }
    }
    return null;
  }

  /** Factor and addend of so many steps at once, modulo 2^32. */
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
