package dev.doorbell.experiments.scenario.handoff;

import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.kernel.GuardedMemory;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.kind.WorldTrial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import dev.doorbell.proxy.Chaining;
import dev.doorbell.proxy.CommandFormat;
import dev.doorbell.proxy.CommandQueue;
import dev.doorbell.proxy.ProxyAgent;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.proxy.SendQueueAccess;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A world for one launch of proxy_minimal: at rank 0, or at both ranks for a ping-pong. After it
 * every message of every producer is compared, and bytes that no message may write.
 */
final class HandoffBench extends WorldTrial {
  private static final String KERNEL = "proxy_minimal";
  private static final int RANKS = 2;
  private static final long SHARED = 1;
  private static final int ALIGNMENT = 64;

  private final HandoffSettings settings;
  private final PointRun<?> run;
  private final Load load;
  private final List<Side> sides = new ArrayList<>();
  private final @Nullable Memory samples;

  /**
   * A launch.
   *
   * @param producers threads that put side by side; of a probe, itself and its background
   * @param samples arrays of samples that the kernel writes
   * @param bounces whether both ranks answer each other
   */
  record Load(
      LaunchConfig grid,
      int producers,
      int iterations,
      int warmup,
      int window,
      int samples,
      boolean bounces) {}

  private final class Side {
    final int rank;
    final byte[] payload;
    final Memory local;
    final GuardedMemory inbox;
    final MemoryRegion localRegion;
    final MemoryRegion inboxRegion;

    Side(int rank, SplittableRandom random) {
      this.rank = rank;
      payload = new byte[Math.multiplyExact(settings.stride(), load.producers)];
      random.nextBytes(payload);
      if (load.bounces) {
        ByteBuffer.wrap(payload)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(settings.size() - Long.BYTES, 0);
      }
      // Behind the payload: the other message of a ping-pong.
      local = allocate(payload.length + settings.stride(), "payload");
      local.putBytes(0, payload);
      local.putBytes(payload.length, Arrays.copyOf(payload, settings.stride()));
      Memory target = allocate(payload.length + 2L * GuardedMemory.GUARD, "inbox");
      inbox = new GuardedMemory(target, GuardedMemory.GUARD, payload.length);
      localRegion = own(world.rank(rank).domain().register(local, Endpoint.ALL_RIGHTS));
      inboxRegion =
          own(
              world
                  .rank(rank)
                  .domain()
                  .register(target, GuardedMemory.GUARD, payload.length, Endpoint.ALL_RIGHTS));
    }

    private Memory allocate(long bytes, String label) {
      return own(world.rank(rank).gpu().allocate(settings.payload(), bytes, label));
    }

    /** Returns the bytes that the peer's inbox has to hold in the end. */
    byte[] arrived() {
      byte[] all = new byte[payload.length];
      for (int producer = 0; producer < load.producers; producer++) {
        boolean bulk = settings.background() > 0 && producer > 0;
        if (!bulk || rank == 0) {
          System.arraycopy(
              payload,
              producer * settings.stride(),
              all,
              producer * settings.stride(),
              bulk ? settings.bulk() : settings.size());
        }
      }
      if (load.bounces) {
        ByteBuffer.wrap(all)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(settings.size() - Long.BYTES, (long) load.warmup + load.iterations);
      }
      return all;
    }
  }

  private final List<KernelJob> kernels = new ArrayList<>();
  private final List<HandoffRings> rings = new ArrayList<>();

  HandoffBench(PointRun<?> run, HandoffSettings settings, Load load, long seed) {
    super(
        run.world()
            .seed(seed)
            .mtu(settings.queues().mtu())
            .payload(settings.payload())
            .mover(settings.dma().mover(run, settings.payload() != MemoryKind.HOST))
            .open());
    this.run = run;
    this.settings = settings;
    this.load = load;
    Connection connection =
        own(Connection.open(world, settings.endpoint(), Connection.Ringing.GPU, settings.qps()));
    SplittableRandom random = new SplittableRandom(seed);
    for (int rank = 0; rank < RANKS; rank++) {
      sides.add(new Side(rank, random));
    }
    for (int rank = 0; rank < (load.bounces ? RANKS : 1); rank++) {
      Side from = sides.get(rank);
      Side to = sides.get(1 - rank);
      rings.add(
          own(
              new HandoffRings(
                  world,
                  rank,
                  connection.endpoints(rank),
                  settings.rings(run),
                  settings
                      .handoff()
                      .format(
                          from.local.address(),
                          from.localRegion.lkey(),
                          to.inbox.address(),
                          to.inboxRegion.rkey()))));
      LaunchConfig grid = rank == 0 ? load.grid : LaunchConfig.of(1, 1);
      kernels.add(
          own(
              new KernelJob(
                  world.rank(rank).gpu(), KERNEL, grid.withTimeout(HandoffSettings.KERNEL_NANOS))));
    }
    samples =
        load.samples == 0
            ? null
            : kernels
                .getFirst()
                .allocate(
                    MemoryKind.DEVICE,
                    (long) load.samples * load.iterations * Long.BYTES,
                    "samples");
  }

  HandoffBench launch() throws PointFailure {
    return run.perform(this, HandoffSettings.KERNEL_NANOS);
  }

  long[] samples(int number) {
    return samples == null
        ? new long[0]
        : KernelJob.longs(samples, number * load.iterations, load.iterations);
  }

  /** Nanoseconds from the first enqueue after the warm-up until the last put was done. */
  long nanos() {
    return kernels.getFirst().nanos();
  }

  @Override
  public List<Supplier<Launch>> prepare() {
    List<Supplier<Launch>> starts = new ArrayList<>();
    for (int rank = 0; rank < kernels.size(); rank++) {
      starts.add(kernels.get(rank).prepare(rings.get(rank).views().address(), job(rank)));
    }
    return starts;
  }

  private JobView job(int rank) {
    Side side = sides.get(rank);
    JobView job = new JobView();
    Side peer = sides.get(1 - rank);
    job.local = side.local.address();
    job.localKey = side.localRegion.lkey();
    job.remote = peer.inbox.address();
    job.remoteKey = peer.inboxRegion.rkey();
    job.bytes = settings.size();
    job.stride = settings.stride();
    job.iterations = load.iterations;
    job.warmup = load.warmup;
    job.window = load.window;
    job.opcode = settings.inline() ? JobView.OP_PUT_INLINE : JobView.OP_PUT;
    boolean shared = settings.background() > 0 && settings.probe() == HandoffSettings.Probe.SHARED;
    job.qpCount = shared ? 1 : settings.rings();
    job.role = rank;
    job.inbox = load.bounces ? side.inbox.address() : 0;
    job.samples = samples != null && rank == 0 ? samples.address() : 0;
    job.operand = settings.handoff().operand;
    job.compare = shared ? SHARED : 0;
    job.chunkBytes = settings.bulk();
    if (settings.background() > 0) {
      Memory words =
          kernels.get(rank).allocate(MemoryKind.DEVICE, 2L * Long.BYTES, "words of the background");
      words.fill(0, words.size(), (byte) 0);
      job.staging = words.address();
    }
    return job;
  }

  @Override
  public @Nullable String firstError() {
    return Trial.first(kernels, KernelJob::firstError);
  }

  @Override
  public @Nullable String mismatch() {
    for (int rank = 0; rank < kernels.size(); rank++) {
      String wrong = sides.get(1 - rank).inbox.mismatch(sides.get(rank).arrived());
      if (wrong != null) {
        return "rank %d: %s".formatted(1 - rank, wrong);
      }
    }
    return null;
  }

  @Override
  public long verifiedBytes() {
    return (long) kernels.size() * settings.stride() * load.producers;
  }

  static int stride(int bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /**
   * Rings of commands from the kernels of one rank, and the CPU threads that post what is in them:
   * ring r to queue pair r modulo their number, which is one thread's. A first ring that is private
   * has the first queue pair alone, if there are several.
   */
  public static final class HandoffRings implements AutoCloseable {
    private final Owned owned = new Owned();
    private final Memory views;

    /**
     * Shape of the rings.
     *
     * @param entries of a ring, a power of two
     * @param counter memory of the counters of finished commands
     * @param privateFirst no other ring goes to the first ring's queue pair
     * @param blueFlame a lone WQE goes to the BlueFlame register
     */
    public record Shape(
        int rings,
        int entries,
        MemoryKind counter,
        int workers,
        Chaining chaining,
        boolean privateFirst,
        boolean blueFlame,
        ProxyPrices prices) {
      private int queuePair(int ring, int all) {
        return privateFirst && all > 1 && ring > 0 ? 1 + (ring - 1) % (all - 1) : ring % all;
      }
    }

    /**
     * Starts the CPU threads.
     *
     * @param endpoints queue pairs of {@code rank} on which nothing was posted
     * @param format of the commands, which says where payload and inbox lie
     */
    public HandoffRings(
        World world, int rank, List<Endpoint> endpoints, Shape shape, CommandFormat format) {
      List<ProxyAgent> workers = new ArrayList<>();
      for (int i = 0; i < shape.workers; i++) {
        workers.add(
            owned.add(
                new ProxyAgent(world.fabric(), Locus.cpu(rank), shape.prices, shape.chaining)));
      }
      byte[] bytes = new byte[shape.rings * QueuePairView.BYTES];
      for (int ring = 0; ring < shape.rings; ring++) {
        Endpoint endpoint = endpoints.get(shape.queuePair(ring, endpoints.size()));
        CommandQueue queue =
            owned.add(
                new CommandQueue(
                    world.rank(rank).gpu(), shape.entries, ring, format, shape.counter));
        SendQueueAccess access = SendQueueAccess.of(endpoint.queuePair(), endpoint.view());
        workers
            .get(endpoint.index() % shape.workers)
            .serve(queue, shape.blueFlame ? access : access.withoutBlueFlame());
        byte[] view = Abi.proxied(endpoint.view(), queue.descriptorAddress()).encode();
        System.arraycopy(view, 0, bytes, ring * view.length, view.length);
      }
      views =
          owned.add(world.rank(rank).gpu().allocate(MemoryKind.DEVICE, bytes.length, "ring views"));
      views.putBytes(0, bytes);
    }

    /** The kernels' views of the queue pairs, one for each ring. */
    public Memory views() {
      return views;
    }

    @Override
    public void close() {
      owned.close();
    }
  }
}
