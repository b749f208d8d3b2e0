package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.scenario.kernel.GuardedMemory;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.World;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A world in which a kernel of rank 0 puts one message for each thread to rank 1, in launch after
 * launch; after each, every message is compared and every block of the send rings accounted for.
 */
final class PutBench implements AutoCloseable {
  private final PointRun<?> run;
  private final PosterSettings settings;
  private final Owned owned = new Owned();
  private final World world;
  private final List<Endpoint> senders;
  private final Memory views;
  private final SplittableRandom random;
  private final byte[] payload;
  private final Memory local;
  private final GuardedMemory inbox;
  private final MemoryRegion localRegion;
  private final MemoryRegion inboxRegion;

  /**
   * Opens the world.
   *
   * @param messages side by side in the payload, one for each thread that puts
   */
  PutBench(PointRun<?> run, PosterSettings settings, Endpoint.Shape shape, int messages) {
    this.run = run;
    this.settings = settings;
    world =
        owned.add(
            run.world()
                .mtu(settings.queues().mtu())
                .payload(settings.payload())
                .mover(settings.dma().mover(run, settings.touchesGpu()))
                .open());
    Connection connection =
        owned.add(
            Connection.oneWay(
                world, shape, settings.posting().ringing, settings.qps(), settings.proxies()));
    senders = connection.endpoints(0);
    views = owned.add(connection.writeViews(0));
    random = new SplittableRandom(run.point().seed());
    payload = new byte[Math.multiplyExact(settings.size(), messages)];
    local = allocate(0, payload.length, "payload");
    Memory target = allocate(1, payload.length + 2L * GuardedMemory.GUARD, "inbox");
    inbox = new GuardedMemory(target, GuardedMemory.GUARD, payload.length);
    localRegion = owned.add(world.rank(0).domain().register(local, Endpoint.ALL_RIGHTS));
    inboxRegion =
        owned.add(
            world
                .rank(1)
                .domain()
                .register(target, GuardedMemory.GUARD, payload.length, Endpoint.ALL_RIGHTS));
  }

  private Memory allocate(int rank, long bytes, String label) {
    return owned.add(world.rank(rank).gpu().allocate(settings.payload(), bytes, label));
  }

  Fabric fabric() {
    return world.fabric();
  }

  Gpu gpu() {
    return world.rank(0).gpu();
  }

  /** A kernel of the catalogue on rank 0, which is closed with this bench. */
  KernelJob kernel(String name) {
    return owned.add(new KernelJob(gpu(), name, settings.grid()));
  }

  /** A job with messages, keys and queue pairs, for the caller to complete. */
  JobView job(long iterations, long warmup) {
    JobView job = new JobView();
    job.local = local.address();
    job.localKey = localRegion.lkey();
    job.remote = inbox.address();
    job.remoteKey = inboxRegion.rkey();
    job.bytes = settings.size();
    job.stride = settings.size();
    job.iterations = iterations;
    job.warmup = warmup;
    job.qpCount = settings.qps();
    return job;
  }

  /** Blocks that kernels have found completed so far, over all queue pairs. */
  long completedBlocks() {
    return sum(Endpoint::completedBlocks);
  }

  private long sum(ToLongFunction<Endpoint> what) {
    return senders.stream().mapToLong(what).sum();
  }

  /**
   * Launches a kernel with fresh messages and verifies what it left.
   *
   * @param sends whether the messages have to arrive
   * @param more what else may be wrong, in words, or null
   * @return nanoseconds from the kernel's first stamp to its last
   */
  long launch(KernelJob kernel, JobView job, boolean sends, Supplier<@Nullable String> more)
      throws PointFailure {
    random.nextBytes(payload);
    local.putBytes(0, payload);
    inbox.clear();
    return run.perform(new Round(kernel, job, sends, more), PosterSettings.KERNEL_NANOS)
        .getAsLong();
  }

  /** One launch. */
  private final class Round implements Trial, LongSupplier {
    private final KernelJob kernel;
    private final JobView job;
    private final boolean sends;
    private final Supplier<@Nullable String> more;

    Round(KernelJob kernel, JobView job, boolean sends, Supplier<@Nullable String> more) {
      this.kernel = kernel;
      this.job = job;
      this.sends = sends;
      this.more = more;
    }

    @Override
    public Fabric fabric() {
      return world.fabric();
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      return List.of(kernel.prepare(views.address(), job));
    }

    @Override
    public @Nullable String firstError() {
      return kernel.firstError();
    }

    @Override
    public @Nullable String mismatch() {
      String wrong = sends ? inbox.mismatch(payload) : null;
      if (wrong == null) {
        wrong = unfinished();
      }
      return wrong == null ? more.get() : wrong;
    }

    /** Every thread has waited for its puts, so no block may be reserved and not completed. */
    private @Nullable String unfinished() {
      for (Endpoint sender : senders) {
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
      return sends ? payload.length : 0;
    }

    @Override
    public long getAsLong() {
      return kernel.nanos();
    }
  }

  @Override
  public void close() {
    owned.close();
  }
}
