package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.GuardedMemory;
import dev.doorbell.experiments.scenario.kernel.KernelStatus;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.nic.NicShape.NicPath;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One launch of a sending kernel and of the NIC that answers it, with fresh queues and payload. */
final class NicRun implements Trial, AutoCloseable {
  private static final int LOCAL_KEY = 0x1101;

  /** Key that the NIC accepts for the target. */
  static final int REMOTE_KEY = 0x2202;

  private static final int STAGING_KEY = 0x3303;

  private final GpuPair gpus;
  private final NicShape shape;
  private final Load load;
  private final NicMemory memory;
  private final byte[] payload;
  private final GuardedMemory target;
  private final KernelStatus senderStatus;
  private final KernelStatus nicStatus;
  private final Memory stamps;
  private final Memory samples;
  private final long senderJob;
  private final long nicJob;
  private final long total;

  /**
   * Messages of a run.
   *
   * @param kernel that sends
   * @param messages of each producer that are measured, or just sent
   * @param warmup of each producer before those; for kernels that have one
   * @param distinct messages that lie side by side, each for a message or a producer; 1: all send
   *     the same one
   */
  record Load(String kernel, int messages, int warmup, int distinct) {}

  NicRun(GpuPair gpus, NicShape shape, Load load, long seed) {
    this(gpus, shape, load, seed, REMOTE_KEY);
  }

  NicRun(GpuPair gpus, NicShape shape, Load load, long seed, int remoteKey) {
    this.gpus = gpus;
    this.shape = shape;
    this.load = load;
    this.memory = new NicMemory(gpus, shape);
    this.total = (long) load.messages() + load.warmup();
    Gpu sender = gpus.sender();
    Gpu nic = gpus.nic();
    this.payload = new byte[Math.multiplyExact(load.distinct(), shape.bytes())];
    new SplittableRandom(seed).nextBytes(payload);
    Memory local = memory.at(sender, payload.length, "payload");
    local.putBytes(0, payload);
    this.target =
        new GuardedMemory(
            memory.at(nic, payload.length + 2L * GuardedMemory.GUARD, "target"),
            GuardedMemory.GUARD,
            payload.length);
    int senderThreads = shape.producers() * shape.senderThreads();
    int nicThreads = shape.engines() * shape.engineThreads();
    this.senderStatus = memory.own(new KernelStatus(sender, senderThreads));
    this.nicStatus = memory.own(new KernelStatus(nic, nicThreads));
    this.stamps = memory.at(sender, 2 * Long.BYTES, "stamps");
    this.samples =
        memory.at(sender, Math.max(1, total * shape.producers()) * Long.BYTES, "samples");
    this.senderJob = write(sender, senderJob(local, remoteKey));
    this.nicJob = write(nic, nicJob(local));
  }

  private long write(Gpu gpu, JobView job) {
    Memory written = memory.at(gpu, JobView.BYTES, "job");
    written.putBytes(0, job.encode());
    return written.address();
  }

  private JobView senderJob(Memory local, int remoteKey) {
    JobView job = new JobView();
    job.local = local.address();
    job.localKey = LOCAL_KEY;
    job.remote = target.address();
    job.remoteKey = remoteKey;
    job.bytes = shape.bytes();
    job.stride = load.distinct() == 1 ? 0 : shape.bytes();
    job.iterations = load.messages();
    job.warmup = load.warmup();
    job.samples = samples.address();
    job.stamps = stamps.address();
    job.status = senderStatus.address();
    job.path = shape.path().jobPath();
    job.window = shape.window();
    job.qpCount = shape.producers();
    job.chunkBytes = shape.bytes();
    if (shape.path() == NicPath.PUSH_RING) {
      job.staging = memory.senderViews();
    } else {
      job.staging = memory.staging();
      job.stagingWire = memory.staging();
      job.stagingBytes = memory.stagingBytes();
      job.stagingKey = STAGING_KEY;
    }
    return job;
  }

  private JobView nicJob(Memory local) {
    JobView job = new JobView();
    job.local = local.address();
    job.localKey = LOCAL_KEY;
    job.bytes = local.size();
    job.remote = target.address();
    job.remoteKey = REMOTE_KEY;
    job.stride = payload.length;
    job.iterations = total;
    job.status = nicStatus.address();
    job.inbox = memory.stateAddress();
    job.qpCount = shape.producers();
    job.stagingWire = memory.staging();
    job.stagingBytes = memory.stagingBytes();
    job.stagingKey = STAGING_KEY;
    if (shape.path() == NicPath.PUSH_RING) {
      job.staging = memory.nicViews();
    }
    return job;
  }

  @Override
  public Fabric fabric() {
    return gpus.fabric();
  }

  /** The NIC starts before the sender. */
  @Override
  public List<Supplier<Launch>> prepare() {
    String answering = shape.path() == NicPath.PUSH_RING ? "gpu_push_nic" : "gpu_nic";
    gpus.nicKernels().kernel(answering);
    gpus.senderKernels().kernel(load.kernel());
    return List.of(
        () ->
            gpus.nicKernels()
                .launch(
                    answering,
                    grid(shape.engines(), shape.engineThreads()),
                    memory.nicViews(),
                    nicJob),
        () ->
            gpus.senderKernels()
                .launch(
                    load.kernel(),
                    grid(shape.producers(), shape.senderThreads()),
                    memory.senderViews(),
                    senderJob));
  }

  private LaunchConfig grid(int blocks, int threads) {
    return LaunchConfig.of(blocks, threads).withTimeout(shape.kernelNanos());
  }

  @Override
  public @Nullable String firstError() {
    String errors =
        Stream.of(senderStatus.firstError("the sender"), nicStatus.firstError("the NIC"))
            .filter(Objects::nonNull)
            .collect(Collectors.joining("; "));
    if (!errors.isEmpty()) {
      return errors + memory.errorText();
    }
    for (int queue = 0; queue < shape.producers(); queue++) {
      long reported = memory.reported(queue);
      if (reported != total) {
        return "the NIC has delivered %d messages of queue %d instead of %d"
            .formatted(reported, queue, total);
      }
    }
    return null;
  }

  @Override
  public @Nullable String mismatch() {
    return target.mismatch(payload);
  }

  @Override
  public long verifiedBytes() {
    return payload.length;
  }

  long[] samples(int count) {
    long[] values = new long[count];
    samples.read(0, MemorySegment.ofArray(values));
    return values;
  }

  long nanos() {
    return stamps.getLong(Long.BYTES) - stamps.getLong(0);
  }

  @Override
  public void close() {
    memory.close();
  }
}
