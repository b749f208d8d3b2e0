package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.GpuStream;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.kernel.GuardedMemory;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.DcTargets;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.experiments.scenario.world.WorldBuilder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A world in which a kernel of rank 0, or of both ranks, puts one message for each thread to the
 * other rank, in launch after launch; after each, every message is compared and every block of the
 * send rings accounted for.
 */
final class PutBench implements AutoCloseable {
  private static final int RANKS = 2;

  private final PointRun<?> run;
  private final PosterSettings settings;
  private final Owned owned = new Owned();
  private final World world;
  private final SplittableRandom random;
  private final byte[] payload;
  private int first;
  private int others;
  private boolean bounces;

  private final List<Side> sides = new ArrayList<>();

  enum Direction {
    ONE,
    BOTH,
    SEND,
    RECEIVE
  }

  private final class Side {
    final int rank;
    final List<Endpoint> senders;
    final Memory views;
    final Memory local;
    final GuardedMemory inbox;
    final MemoryRegion localRegion;
    final MemoryRegion inboxRegion;
    final @Nullable DcTargets targets;
    long keys;
    long words;

    Side(int rank, Connection connection, int dynamic) {
      this.rank = rank;
      senders = connection.endpoints(rank);
      views = owned.add(connection.writeViews(rank));
      local = allocate(rank, payload.length, "payload");
      Memory target = allocate(1 - rank, payload.length + 2L * GuardedMemory.GUARD, "inbox");
      inbox = new GuardedMemory(target, GuardedMemory.GUARD, payload.length);
      localRegion = owned.add(world.rank(rank).domain().register(local, Endpoint.ALL_RIGHTS));
      inboxRegion =
          owned.add(
              world
                  .rank(1 - rank)
                  .domain()
                  .register(target, GuardedMemory.GUARD, payload.length, Endpoint.ALL_RIGHTS));
      targets =
          dynamic > 0 ? owned.add(new DcTargets(world, rank, senders.getFirst(), dynamic)) : null;
    }

    private Memory allocate(int at, long bytes, String label) {
      return owned.add(world.rank(at).gpu().allocate(settings.payload(), bytes, label));
    }

    void address(JobView job) {
      job.local = local.address();
      job.localKey = localRegion.lkey();
      job.remote = inbox.address();
      job.remoteKey = inboxRegion.rkey();
      job.staging = keys;
      job.stagingWire = words;
      if (targets != null) {
        job.peers = targets.vectors();
        job.path = targets.count();
      }
    }

    /** Puts both keys, as a WQE holds them, into GPU memory. */
    void putKeys() {
      Memory memory =
          owned.add(world.rank(rank).gpu().allocate(MemoryKind.DEVICE, Long.BYTES, "keys"));
      long lkey = Integer.toUnsignedLong(BigEndian.swap(localRegion.lkey()));
      long rkey = Integer.toUnsignedLong(BigEndian.swap(inboxRegion.rkey()));
      memory.putLong(0, rkey << Integer.SIZE | lkey);
      keys = memory.address();
    }

    void putWords() {
      Memory memory =
          owned.add(
              world.rank(rank).gpu().allocate(MemoryKind.DEVICE, 2L * Long.BYTES, "background"));
      memory.fill(0, memory.size(), (byte) 0);
      words = memory.address();
    }

    void refresh() {
      local.putBytes(0, payload);
      inbox.clear();
    }

    @Nullable String miscounted(JobView job) {
      long wanted = job.warmup + job.iterations;
      long found =
          ByteBuffer.wrap(inbox.content())
              .order(ByteOrder.LITTLE_ENDIAN)
              .getLong(payload.length - Long.BYTES);
      return found == wanted
          ? null
          : "the last word of rank %d's inbox is %d instead of %d"
              .formatted(1 - rank, found, wanted);
    }
  }

  PutBench(PointRun<?> run, PosterSettings settings, Endpoint.Shape shape, int messages) {
    this(run, settings, shape, messages, Direction.ONE, 0);
  }

  /**
   * Opens the world.
   *
   * @param messages side by side in the payload, one for each thread that puts
   * @param direction who puts; where both ranks do, each at the same time as the other
   * @param dynamic targets of dynamic connections, for which the queue pairs are initiators; 0:
   *     queue pairs are connected
   */
  PutBench(
      PointRun<?> run,
      PosterSettings settings,
      Endpoint.Shape shape,
      int messages,
      Direction direction,
      int dynamic) {
    this.run = run;
    this.settings = settings;
    WorldBuilder builder =
        run.world()
            .mtu(settings.queues().mtu())
            .payload(settings.payload())
            .mover(settings.dma().mover(run, settings.touchesGpu()));
    switch (direction) {
      case SEND -> builder.many(1);
      case RECEIVE -> builder.many(0);
      default -> {}
    }
    world = owned.add(builder.open());
    int posting = direction == Direction.BOTH ? RANKS : 1;
    int count = settings.qps();
    Connection.Ringing ringing = settings.posting().ringing;
    Connection connection =
        owned.add(
            dynamic > 0
                ? Connection.initiators(world, posting, shape, ringing, count, settings.proxies())
                : Connection.open(world, posting, shape, ringing, count, settings.proxies()));
    random = new SplittableRandom(run.point().seed());
    payload = new byte[Math.multiplyExact(settings.size(), messages)];
    shorten(settings.size(), settings.size());
    for (int rank = 0; rank < posting; rank++) {
      sides.add(new Side(rank, connection, dynamic));
    }
  }

  /**
   * From now on messages are shorter than the way from one to the next: the first one and the
   * others.
   */
  void shorten(int bytesOfFirst, int bytesOfOthers) {
    first = bytesOfFirst;
    others = bytesOfOthers;
  }

  Fabric fabric() {
    return world.fabric();
  }

  Gpu gpu() {
    return world.rank(0).gpu();
  }

  KernelJob kernel(String name) {
    return kernel(name, 0);
  }

  KernelJob kernel(String name, LaunchConfig grid, GpuStream.Priority priority) {
    return owned.add(new KernelJob(gpu(), name, grid, priority));
  }

  private KernelJob kernel(String name, int rank) {
    return owned.add(new KernelJob(world.rank(rank).gpu(), name, settings.grid()));
  }

  /** A job of rank 0 with messages, keys and queue pairs, for the caller to complete. */
  JobView job(long iterations, long warmup) {
    JobView job = new JobView();
    sides.getFirst().address(job);
    job.bytes = settings.size();
    job.stride = settings.size();
    job.iterations = iterations;
    job.warmup = warmup;
    job.qpCount = settings.qps();
    return job;
  }

  void putKeys() {
    sides.forEach(Side::putKeys);
  }

  void putWords() {
    sides.forEach(Side::putWords);
  }

  long completedBlocks() {
    return sides.getFirst().senders.stream().mapToLong(Endpoint::completedBlocks).sum();
  }

  /**
   * Launches a kernel with fresh messages and verifies what it left. Where both ranks put, rank 1
   * launches another one with the same job but for its own messages, and without samples.
   *
   * @param sends whether the messages have to arrive
   * @param more what else may be wrong, in words, or null
   * @return nanoseconds from the kernel's first stamp to its last
   */
  long launch(KernelJob kernel, JobView job, boolean sends, Supplier<@Nullable String> more)
      throws PointFailure {
    List<Start> starts = new ArrayList<>(List.of(new Start(sides.getFirst(), kernel, job)));
    for (Side side : sides.subList(1, sides.size())) {
      starts.add(new Start(side, kernel(kernel.name(), side.rank), job));
    }
    return launch(starts, sends, more);
  }

  /**
   * Launches two kernels of rank 0, one behind the other, with a job each, and verifies likewise.
   *
   * @return nanoseconds from the first stamp of either to the last
   */
  long launch(
      KernelJob kernel,
      JobView job,
      KernelJob second,
      JobView jobOfSecond,
      boolean sends,
      Supplier<@Nullable String> more)
      throws PointFailure {
    Side side = sides.getFirst();
    return launch(
        List.of(new Start(side, kernel, job), new Start(side, second, jobOfSecond)), sends, more);
  }

  private long launch(List<Start> starts, boolean sends, Supplier<@Nullable String> more)
      throws PointFailure {
    random.nextBytes(payload);
    for (int at = 0; at < payload.length; at += settings.size()) {
      Arrays.fill(payload, at + (at == 0 ? first : others), at + settings.size(), (byte) 0);
    }
    sides.forEach(Side::refresh);
    return run.perform(new Round(starts, sends, more), PosterSettings.KERNEL_NANOS).getAsLong();
  }

  /**
   * Launches a kernel whose ranks each put a message whenever the peer's has arrived; in the end
   * the last word of either inbox, which counts the turns, is compared.
   */
  void bounce(KernelJob kernel, JobView job) throws PointFailure {
    bounces = true;
    launch(kernel, job, false, () -> Trial.first(sides, side -> side.miscounted(job)));
  }

  private record Start(Side side, KernelJob kernel, JobView job) {}

  private final class Round implements Trial, LongSupplier {
    private final List<Start> starts;
    private final boolean sends;
    private final Supplier<@Nullable String> more;

    Round(List<Start> starts, boolean sends, Supplier<@Nullable String> more) {
      this.starts = starts;
      this.sends = sends;
      this.more = more;
    }

    @Override
    public Fabric fabric() {
      return world.fabric();
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      List<Supplier<Launch>> launches = new ArrayList<>();
      for (Start start : starts) {
        // Preparing a job writes it to memory, so that the next side may change it.
        start.side.address(start.job);
        if (bounces) {
          start.job.role = start.side.rank;
          start.job.inbox = sides.get(1 - start.side.rank).inbox.address();
        }
        long samples = start.job.samples;
        start.job.samples = start.side.rank == 0 ? samples : 0;
        launches.add(start.kernel.prepare(start.side.views.address(), start.job));
        start.job.samples = samples;
      }
      return launches;
    }

    @Override
    public @Nullable String firstError() {
      return Trial.first(starts, start -> start.kernel.firstError());
    }

    @Override
    public @Nullable String mismatch() {
      String wrong = null;
      for (Side side : sides) {
        if (wrong == null && sends) {
          wrong = side.inbox.mismatch(payload);
        }
        if (wrong == null) {
          wrong = unfinished(side);
        }
      }
      return wrong == null ? more.get() : wrong;
    }

    /** Every thread has waited for its puts, so no block may be reserved and not completed. */
    private static @Nullable String unfinished(Side side) {
      for (Endpoint sender : side.senders) {
        if (sender.reservedBlocks() != sender.completedBlocks()) {
          return "queue pair 0x%x: %d blocks posted and %d completed"
              .formatted(
                  sender.queuePair().number(), sender.reservedBlocks(), sender.completedBlocks());
        }
      }
      return null;
    }

    @Override
    public long verifiedBytes() {
      return sides.size() * (sends ? payload.length : bounces ? (long) Long.BYTES : 0);
    }

    @Override
    public long getAsLong() {
      // Clocks of two ranks are not the same one.
      List<KernelJob> own =
          starts.stream()
              .filter(start -> start.side.equals(sides.getFirst()))
              .map(Start::kernel)
              .toList();
      return own.stream().mapToLong(KernelJob::ended).max().orElseThrow()
          - own.stream().mapToLong(KernelJob::started).min().orElseThrow();
    }
  }

  @Override
  public void close() {
    owned.close();
  }
}
