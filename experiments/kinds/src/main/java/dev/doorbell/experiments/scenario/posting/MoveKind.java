package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.Basis;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.cuda.CudaGpu;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.Checks;
import dev.doorbell.experiments.scenario.kind.ExperimentKind;
import dev.doorbell.experiments.scenario.kind.PointRun;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.scenario.world.World;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A grid moves the same bytes again and again between GPU and host memory, without any HCA; what
 * arrived is compared after each launch.
 */
public final class MoveKind extends ExperimentKind<MoveKind.Settings> {
  private static final String KERNEL = "host_move";

  /** The fewest bytes of a launch on a real GPU, whose clock ticks in steps of nanoseconds. */
  private static final long BYTES_ON_GPU = 64L << 20;

  /** Enough for a hundred round trips of a lone warp. */
  private static final int MOST_PASSES_ON_GPU = 256;

  enum Access {
    LOADS,
    STORES,
    COPY_IN,
    COPY_OUT;

    boolean fromHost() {
      return this == LOADS || this == COPY_IN;
    }

    boolean byEngine() {
      return this == COPY_IN || this == COPY_OUT;
    }
  }

  record Settings(Point point, int size, int threads, int blocks, Access access) {}

  public MoveKind() {
    super("kernel: " + KERNEL, "DB-P026", Settings.class);
  }

  @Override
  public boolean usesHca() {
    return false;
  }

  @Override
  protected void check(Settings of, ExecutionBackend backend, Checks checks) {
    super.check(of, backend, checks);
    checks.refuseIf(
        of.access.byEngine() && !(backend instanceof ExecutionBackend.Cuda),
        "%s on the PTX virtual machine".formatted(of.point.text("access")),
        "it has no copy engine: what its host copies takes no time",
        "use -s gpu=cuda:0, or -s access=loads,stores");
  }

  @Override
  protected void measure(PointRun<Settings> run) throws PointFailure {
    Settings of = run.settings();
    LaunchConfig grid =
        LaunchConfig.of(of.blocks, of.threads).withTimeout(PosterSettings.KERNEL_NANOS);
    double[] rates = new double[of.point.samples()];
    try (World world = run.world().payload(MemoryKind.HOST).open()) {
      Gpu gpu = world.rank(0).gpu();
      try (Memory device = gpu.allocate(MemoryKind.DEVICE, of.size, "in the GPU");
          Memory host = gpu.allocate(MemoryKind.HOST, of.size, "in the host");
          KernelJob kernel = new KernelJob(gpu, KERNEL, grid)) {
        Memory from = of.access.fromHost() ? host : device;
        Memory to = of.access.fromHost() ? device : host;
        int times = run.onGpu() ? Math.clamp(BYTES_ON_GPU / of.size, 1, MOST_PASSES_ON_GPU) : 1;
        for (int i = 0; i < rates.length; i++) {
          Move move = new Move(world.fabric(), kernel, from, to, times, of.point.seed() + i);
          if (of.access.byEngine() && gpu instanceof CudaGpu real) {
            move.byEngine(real);
          }
          run.perform(move, PosterSettings.KERNEL_NANOS);
          rates[i] = (double) of.size * times / move.nanos();
        }
      }
    }
    if (run.onGpu()) {
      run.basis(Basis.MEASURED);
    }
    run.add(Samples.of("goodput", "GB/s", rates));
  }

  private static final class Move implements Trial {
    private final Fabric fabric;
    private final KernelJob kernel;
    private final Memory from;
    private final Memory to;
    private final int times;
    private final byte[] sent;
    private double engineNanos;

    Move(Fabric fabric, KernelJob kernel, Memory from, Memory to, int times, long seed) {
      this.fabric = fabric;
      this.kernel = kernel;
      this.from = from;
      this.to = to;
      this.times = times;
      this.sent = new byte[(int) from.size()];
      new SplittableRandom(seed).nextBytes(sent);
      from.putBytes(0, sent);
      to.fill(0, sent.length, (byte) 0);
    }

    void byEngine(CudaGpu gpu) {
      gpu.copyNanos(from, to, 1);
      engineNanos = gpu.copyNanos(from, to, times);
    }

    double nanos() {
      return engineNanos == 0 ? kernel.nanos() : engineNanos;
    }

    @Override
    public Fabric fabric() {
      return fabric;
    }

    @Override
    public List<Supplier<Launch>> prepare() {
      if (engineNanos != 0) {
        return List.of();
      }
      JobView job = new JobView();
      job.local = from.address();
      job.remote = to.address();
      job.bytes = from.size();
      job.iterations = times;
      job.warmup = 1;
      return List.of(kernel.prepare(0, job));
    }

    @Override
    public @Nullable String firstError() {
      return engineNanos == 0 ? kernel.firstError() : null;
    }

    @Override
    public @Nullable String mismatch() {
      int wrong = Arrays.mismatch(sent, to.getBytes(0, sent.length));
      return wrong < 0 ? null : "byte %d differs at the target".formatted(wrong);
    }

    @Override
    public long verifiedBytes() {
      return sent.length;
    }
  }
}
