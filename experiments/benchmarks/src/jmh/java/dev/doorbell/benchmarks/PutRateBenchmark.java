package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.gpu.Kernel;
import dev.doorbell.core.gpu.KernelArguments;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.ptxvm.launch.VmOptions;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
 * The PTX VM on {@code put_rate}, with the software HCAs in the loop, all on one core: posts and
 * PTX instructions a second.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"-Xmx2g", "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
public class PutRateBenchmark {
  private static final int BLOCKS = 32768;
  private static final int BYTES = 8;
  private static final int POSTS = 1 << 18;
  private static final long MINUTE = 60_000_000_000L;
  private static final ThreadMXBean CPU = ManagementFactory.getThreadMXBean();

  /** Threads of the launch, in blocks of at most 256. */
  @Param({"32", "256", "1024"})
  public int threads = 32;

  /** Software HCAs that move the payload, or a device that only completes: the VM alone. */
  @Param({"soft", "instant"})
  public String hca = "soft";

  /** Every thread for itself, or warps together, which is all shuffles and votes. */
  @Param({"thread", "warp"})
  public String scope = "thread";

  /** The GPU that executes the kernel. */
  @Param({"AUTO"})
  public VmOptions.Engine engine = VmOptions.Engine.AUTO;

  /** Counters besides launches. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Counters {
    /** Work requests posted. */
    public long posts;

    /** PTX instructions executed. */
    public long instructions;

    /** CPU time of the one thread that does it all, in nanoseconds: on a busy machine, divide. */
    public long cpuNanos;
  }

  private final Pair pair = new Pair(BLOCKS, BYTES, true);
  private final KernelArguments arguments = new KernelArguments();
  private @Nullable VmGpu gpu;
  private @Nullable Kernel kernel;

  private static String ptx() {
    KernelCatalogue catalogue = KernelCatalogue.load();
    return catalogue.ptx(catalogue.find("put_rate").orElseThrow());
  }

  private long register() {
    return hca.equals("soft")
        ? pair.queuePair.doorbellAddress()
        : new InstantHca(pair.fabric, pair.completions.ringAddress(), pair.queuePair.number())
            .register();
  }

  /** Writes what the kernel reads. */
  @Setup(Level.Trial)
  public void prepare() {
    VmGpu vm = new VmGpu(pair.fabric, Locus.gpu(0, 0), VmOptions.defaults().withEngine(engine));
    gpu = vm;
    kernel = vm.load("put_rate", ptx()).kernel("put_rate");
    Memory counters = pair.gpu.allocate(MemoryKind.DEVICE, Abi.countersBytes(BLOCKS), "counters");
    Memory error = pair.gpu.allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
    Memory views = pair.gpu.allocate(MemoryKind.DEVICE, QueuePairView.BYTES, "view");
    views.putBytes(
        0,
        new QueuePairView(
                pair.queuePair.sendRingAddress(),
                pair.queuePair.recordAddress() + Integer.BYTES,
                pair.gpu.mapDeviceRegisters(register(), Long.BYTES),
                pair.completions.ringAddress(),
                pair.completions.recordAddress(),
                counters.address(),
                error.address(),
                0,
                0,
                MINUTE,
                BLOCKS,
                1,
                pair.queuePair.number(),
                QueuePairView.FLAG_CQ_COLLAPSED,
                0,
                64,
                0,
                0)
            .encode());
    JobView request = new JobView();
    request.local = pair.source.address();
    request.localKey = pair.sourceRegion.lkey();
    request.remote = pair.target.address();
    request.remoteKey = pair.targetRegion.rkey();
    request.bytes = BYTES;
    request.iterations = POSTS / threads;
    request.qpCount = 1;
    request.scope = scope.equals("warp") ? JobView.SCOPE_WARP : JobView.SCOPE_THREAD;
    request.status =
        pair.gpu.allocate(MemoryKind.DEVICE, (long) Integer.BYTES * threads, "status").address();
    Memory job = pair.gpu.allocate(MemoryKind.DEVICE, JobView.BYTES, "job");
    job.putBytes(0, request.encode());
    arguments.add(views).add(job);
  }

  /** One launch that posts 2^18 puts. */
  @Benchmark
  public boolean launch(Counters counters) {
    int block = Math.min(threads, 256);
    long begin = CPU.getCurrentThreadCpuTime();
    VmGpu vm = Objects.requireNonNull(gpu);
    Launch launch =
        vm.launch(
            Objects.requireNonNull(kernel),
            LaunchConfig.of(threads / block, block).withTimeout(MINUTE),
            arguments,
            vm.createStream());
    RunOutcome outcome = pair.fabric.run(launch::done, MINUTE);
    launch.check();
    counters.posts += POSTS;
    counters.instructions += launch.instructions();
    counters.cpuNanos += CPU.getCurrentThreadCpuTime() - begin;
    return outcome == RunOutcome.DONE;
  }

  /** Closes the pair. */
  @TearDown
  public void close() {
    pair.close();
  }
}
