package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.kernel.GuardedMemory;
import dev.doorbell.experiments.scenario.kernel.KernelJob;
import dev.doorbell.experiments.scenario.kind.Trial;
import dev.doorbell.experiments.scenario.nic.NicShape.NicPath;
import dev.doorbell.experiments.scenario.nic.NicShape.Scale;
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
  private final Memory local;
  private final Memory samples;
  private final KernelJob sender;
  private final KernelJob nic;
  private final int remoteKey;
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

  NicRun(GpuPair gpus, NicShape shape, Scale scale, Load load, long seed) {
    this(gpus, shape, scale, load, seed, REMOTE_KEY);
  }

  NicRun(GpuPair gpus, NicShape shape, Scale scale, Load load, long seed, int remoteKey) {
    this.gpus = gpus;
    this.shape = shape;
    this.load = load;
    this.remoteKey = remoteKey;
    this.memory = new NicMemory(gpus, shape, scale.deadlineNanos());
    this.total = (long) load.messages() + load.warmup();
    this.payload = new byte[Math.multiplyExact(load.distinct(), shape.size())];
    new SplittableRandom(seed).nextBytes(payload);
    this.local = memory.at(gpus.sender(), payload.length, "payload");
    local.putBytes(0, payload);
    this.target =
        new GuardedMemory(
            memory.at(gpus.nic(), payload.length + 2L * GuardedMemory.GUARD, "target"),
            GuardedMemory.GUARD,
            payload.length);
    this.sender =
        kernel(
            gpus.sender(),
            load.kernel(),
            LaunchConfig.of(shape.producers(), shape.senderThreads(scale)),
            scale);
    this.nic =
        kernel(
            gpus.nic(),
            shape.path() == NicPath.PUSH_RING ? "gpu_push_nic" : "gpu_nic",
            LaunchConfig.of(shape.engines(), shape.engineThreads(scale)),
            scale);
    this.samples =
        memory.at(gpus.sender(), Math.max(1, total * shape.producers()) * Long.BYTES, "samples");
  }

  private KernelJob kernel(Gpu gpu, String name, LaunchConfig grid, Scale scale) {
    return memory.owned.add(new KernelJob(gpu, name, grid.withTimeout(scale.kernelNanos())));
  }

  private JobView senderJob() {
    JobView job = new JobView();
    job.local = local.address();
    job.localKey = LOCAL_KEY;
    job.remote = target.address();
    job.remoteKey = remoteKey;
    job.bytes = shape.size();
    job.stride = load.distinct() == 1 ? 0 : shape.size();
    job.iterations = load.messages();
    job.warmup = load.warmup();
    job.samples = samples.address();
    job.path = shape.path().jobPath();
    job.window = shape.window();
    job.qpCount = shape.producers();
    job.chunkBytes = shape.size();
    if (shape.path() == NicPath.PUSH_RING) {
      job.staging = memory.views;
    } else {
      job.staging = memory.staging;
      job.stagingWire = memory.staging;
      job.stagingBytes = memory.stagingBytes;
      job.stagingKey = STAGING_KEY;
    }
    return job;
  }

  private JobView nicJob() {
    JobView job = new JobView();
    job.local = local.address();
    job.localKey = LOCAL_KEY;
    job.bytes = local.size();
    job.remote = target.address();
    job.remoteKey = REMOTE_KEY;
    job.stride = payload.length;
    job.iterations = total;
    job.inbox = memory.state.address();
    job.qpCount = shape.producers();
    job.stagingWire = memory.staging;
    job.stagingBytes = memory.stagingBytes;
    job.stagingKey = STAGING_KEY;
    if (shape.path() == NicPath.PUSH_RING) {
      job.staging = memory.nicViews;
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
    return List.of(
        nic.prepare(memory.nicViews, nicJob()), sender.prepare(memory.views, senderJob()));
  }

  @Override
  public @Nullable String firstError() {
    String errors =
        Stream.of(sender.firstError("the sender"), nic.firstError("the NIC"))
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
    return KernelJob.longs(samples, 0, count);
  }

  long nanos() {
    return sender.nanos();
  }

  @Override
  public void close() {
    memory.close();
  }
}
