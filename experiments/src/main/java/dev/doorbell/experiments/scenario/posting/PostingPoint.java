package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.timed.FabricCounters;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointContext;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.plan.Quantity;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * One point: launches of put_rate for the rate, one of put_price for the times; after each, every
 * message is compared and every block accounted for.
 */
final class PostingPoint {
  private static final int RATE_LAUNCHES = 5;

  /** What answers a GPU is compiled while it runs; the first launches only see to that. */
  private static final int WARM_LAUNCHES_ON_GPU = 2;

  private static final int WARMUP_SHARE = 4;

  private final Point point;
  private final PointContext context;
  private final Topology topology;
  private final ExecutionBackend backend;
  private final PostingShape shape;
  private final SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
  private final List<String> notes = new ArrayList<>();
  private long verified;

  PostingPoint(Point point, PointContext context, Topology topology, ExecutionBackend backend) {
    this.point = point;
    this.context = context;
    this.topology = topology;
    this.backend = backend;
    this.shape = new PostingShape(point);
  }

  PointResult run() throws PointFailure {
    List<Samples> samples = new ArrayList<>();
    try (World world = Worlds.of(point, topology, backend, shape, notes)) {
      try (Wiring wiring = new Wiring(world, shape);
          Buffers buffers =
              new Buffers(world, shape.payload(), shape.bytes(), shape.threads(), point.seed())) {
        if (wants(PostingFamily.RATE) || wants("goodput")) {
          samples.addAll(rates(world, wiring, buffers));
        }
        if (wants(PostingFamily.POST) || wants(PostingFamily.DONE)) {
          samples.addAll(times(world, wiring, buffers));
        }
      }
    } catch (GpuException e) {
      throw new PointFailure(
          PointFailure.Kind.FAILED,
          Problem.of("DB-P001", point.id(), String.valueOf(e.getMessage())).effect("no result"),
          e);
    }
    return new PointResult(backend.basis(), inOrder(samples), counters, verified, notes);
  }

  private boolean wants(String metric) {
    return point.metrics().contains(metric);
  }

  /** Tables have their columns in the order of the config. */
  private List<Samples> inOrder(List<Samples> samples) {
    return point.metrics().stream()
        .flatMap(metric -> samples.stream().filter(one -> one.metric().equals(metric)))
        .toList();
  }

  private List<Samples> rates(World world, Wiring wiring, Buffers buffers) throws PointFailure {
    boolean onGpu = backend instanceof ExecutionBackend.Cuda;
    int launches = Math.min(point.samples(), RATE_LAUNCHES);
    int warm = onGpu ? WARM_LAUNCHES_ON_GPU : 0;
    long each = shape.putsOfThread(backend);
    long puts = each * shape.threads();
    double[] rates = new double[launches];
    try (KernelRun kernel = kernel(world, PostingFamily.RATE_KERNEL)) {
      for (int launch = -warm; launch < launches; launch++) {
        FabricCounters before = traffic(world);
        JobView job = shape.job(each, each / WARMUP_SHARE);
        long nanos = run(kernel, wiring, buffers, job);
        if (launch == 0) {
          count(before, traffic(world), puts + shape.threads() * (each / WARMUP_SHARE));
        }
        if (launch >= 0) {
          rates[launch] = 1e3 * puts / nanos;
        }
      }
    }
    double[] goodputs = rates.clone();
    for (int i = 0; i < goodputs.length; i++) {
      goodputs[i] *= shape.bytes() * 1e-3;
    }
    return List.of(
        Samples.of(PostingFamily.RATE, "M/s", rates), Samples.of("goodput", "GB/s", goodputs));
  }

  private List<Samples> times(World world, Wiring wiring, Buffers buffers) throws PointFailure {
    int count = point.samples();
    try (KernelRun kernel = kernel(world, PostingFamily.PRICE_KERNEL)) {
      Memory memory = kernel.allocate(MemoryKind.DEVICE, 2L * Long.BYTES * count, "samples");
      JobView job = shape.job(count, point.warmup());
      job.samples = memory.address();
      run(kernel, wiring, buffers, job);
      return List.of(
          Samples.of(PostingFamily.POST, "ns", longs(memory, 0, count)),
          Samples.of(PostingFamily.DONE, "ns", longs(memory, count, count)));
    }
  }

  private KernelRun kernel(World world, String name) {
    return new KernelRun(point, context, world.fabric(), world.rank(0).gpu(), name, shape.grid());
  }

  /** One launch, and what it left behind. */
  private long run(KernelRun kernel, Wiring wiring, Buffers buffers, JobView job)
      throws PointFailure {
    buffers.renew();
    buffers.fillIn(job);
    long before = wiring.blocks();
    long nanos = kernel.run(wiring.views(), job);
    String wrong = buffers.mismatch();
    if (wrong == null) {
      wrong = wiring.leftOver();
    }
    long posted = wiring.blocks() - before;
    long expected = (job.iterations + job.warmup) * shape.threads();
    if (wrong == null
        && shape.posting() != PostingShape.Posting.PROXY
        && job.opcode == JobView.OP_PUT
        && posted != expected) {
      wrong = "%d puts completed instead of %d".formatted(posted, expected);
    }
    if (wrong != null) {
      throw new PointFailure(
          PointFailure.Kind.MISMATCH,
          Problem.of("DB-P002", point.id(), wrong).effect("the point has no result"));
    }
    verified += buffers.bytes();
    return nanos;
  }

  private static @Nullable FabricCounters traffic(World world) {
    return world.fabric() instanceof TimedFabric timed ? timed.counters() : null;
  }

  private void count(@Nullable FabricCounters before, @Nullable FabricCounters after, long puts) {
    if (before == null || after == null) {
      return;
    }
    FabricCounters traffic = after.minus(before);
    keep("fences", new Quantity((double) traffic.fences() / puts, ""));
    keep("tlp.bytes", new Quantity((double) traffic.wireBytes() / puts, "B"));
  }

  private void keep(String name, Quantity quantity) {
    if (wants(name)) {
      counters.put(name, quantity);
    }
  }

  private static long[] longs(Memory memory, int from, int count) {
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = memory.getLong((long) (from + i) * Long.BYTES);
    }
    return values;
  }
}
