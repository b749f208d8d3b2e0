package dev.doorbell.experiments.scenario.nic;

import dev.doorbell.core.gpu.Gpu;
import dev.doorbell.core.gpu.Launch;
import dev.doorbell.core.gpu.LaunchConfig;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.JobView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** One launch of a sending kernel and of the NIC that answers it, with fresh queues and payload. */
final class NicRun implements AutoCloseable {
  /** Bytes on either side of the target that nobody may write. */
  private static final int GUARD = 64;

  private static final byte GUARD_BYTE = (byte) 0xA5;
  private static final ValueLayout.OfInt WORD =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int LOCAL_KEY = 0x1101;

  /** What the NIC takes for the target's key. */
  static final int REMOTE_KEY = 0x2202;

  private static final int STAGING_KEY = 0x3303;

  private final NicShape shape;
  private final NicMemory memory;
  private final byte[] payload;
  private final Memory target;
  private final Memory senderStatus;
  private final Memory nicStatus;
  private final Memory stamps;
  private final Memory samples;
  private final long senderJob;
  private final long nicJob;
  private final long total;

  /**
   * What a run sends.
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

  /** The same with a key of the sender's choice. */
  NicRun(GpuPair gpus, NicShape shape, Load load, long seed, int remoteKey) {
    this.shape = shape;
    this.memory = new NicMemory(gpus, shape);
    this.total = (long) load.messages() + load.warmup();
    Gpu sender = gpus.sender();
    Gpu nic = gpus.nic();
    this.payload = new byte[Math.multiplyExact(load.distinct(), shape.bytes())];
    new SplittableRandom(seed).nextBytes(payload);
    Memory local = memory.at(sender, payload.length, "payload");
    local.putBytes(0, payload);
    this.target = memory.at(nic, payload.length + 2L * GUARD, "target");
    target.fill(0, target.size(), GUARD_BYTE);
    target.fill(GUARD, payload.length, (byte) 0);
    int senderThreads = shape.producers() * shape.senderThreads();
    int nicThreads = shape.engines() * shape.engineThreads();
    this.senderStatus = status(sender, senderThreads);
    this.nicStatus = status(nic, nicThreads);
    this.stamps = memory.at(sender, 2 * Long.BYTES, "stamps");
    this.samples =
        memory.at(sender, Math.max(1, total * shape.producers()) * Long.BYTES, "samples");
    this.senderJob = write(sender, senderJob(load, local, remoteKey));
    this.nicJob = write(nic, nicJob(local));
  }

  private Memory status(Gpu gpu, int threads) {
    Memory status = memory.at(gpu, (long) threads * Integer.BYTES, "status");
    status.fill(0, status.size(), (byte) 0xff);
    return status;
  }

  private long write(Gpu gpu, JobView job) {
    Memory written = memory.at(gpu, JobView.BYTES, "job");
    written.putBytes(0, job.encode());
    return written.address();
  }

  private JobView senderJob(Load load, Memory local, int remoteKey) {
    JobView job = new JobView();
    job.local = local.address();
    job.localKey = LOCAL_KEY;
    job.remote = target.address() + GUARD;
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
    if (shape.path() == NicPath.RING) {
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
    job.remote = target.address() + GUARD;
    job.remoteKey = REMOTE_KEY;
    job.stride = payload.length;
    job.iterations = total;
    job.status = nicStatus.address();
    job.inbox = memory.stateAddress();
    job.qpCount = shape.producers();
    job.stagingWire = memory.staging();
    job.stagingBytes = memory.stagingBytes();
    job.stagingKey = STAGING_KEY;
    if (shape.path() == NicPath.RING) {
      job.staging = memory.nicViews();
    }
    return job;
  }

  /**
   * Starts the NIC and then the sender.
   *
   * @param timeoutNanos after which a kernel is given up
   */
  List<Launch> start(NicKernels sender, NicKernels nic, Load load, long timeoutNanos) {
    String answering = shape.path() == NicPath.RING ? "gpu_push_nic" : "gpu_nic";
    // Loading may wait for kernels that run; both are loaded before either runs.
    nic.kernel(answering);
    sender.kernel(load.kernel());
    Launch serves =
        nic.launch(
            answering,
            LaunchConfig.of(shape.engines(), shape.engineThreads()).withTimeout(timeoutNanos),
            memory.nicViews(),
            nicJob);
    try {
      return List.of(
          serves,
          sender.launch(
              load.kernel(),
              LaunchConfig.of(shape.producers(), shape.senderThreads()).withTimeout(timeoutNanos),
              memory.senderViews(),
              senderJob));
    } catch (RuntimeException e) {
      serves.cancel("the sender could not be launched");
      throw e;
    }
  }

  /** The first thing that went wrong on either side, in words, or null. */
  @Nullable String firstError() {
    String sending = firstError("sender", senderStatus);
    String answering = firstError("NIC", nicStatus);
    if (sending != null || answering != null) {
      return (sending == null
              ? answering
              : answering == null ? sending : sending + "; " + answering)
          + memory.errorText();
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

  private static @Nullable String firstError(String who, Memory status) {
    byte[] bytes = status.getBytes(0, (int) status.size());
    MemorySegment words = MemorySegment.ofArray(bytes);
    for (int thread = 0; thread < bytes.length / Integer.BYTES; thread++) {
      int word = words.get(WORD, (long) thread * Integer.BYTES);
      if (word != Abi.OK) {
        return "thread %d of the %s: %s".formatted(thread, who, Abi.statusText(word));
      }
    }
    return null;
  }

  /** What is not at the target as it was sent, in words, or null. */
  @Nullable String mismatch() {
    byte[] arrived = target.getBytes(0, payload.length + 2 * GUARD);
    int at = Arrays.mismatch(payload, 0, payload.length, arrived, GUARD, GUARD + payload.length);
    if (at >= 0) {
      return "byte %d of message %d: 0x%02x instead of 0x%02x"
          .formatted(
              at % shape.bytes(),
              at / shape.bytes(),
              arrived[GUARD + at] & 0xff,
              payload[at] & 0xff);
    }
    for (int i = 0; i < GUARD; i++) {
      if (arrived[i] != GUARD_BYTE || arrived[GUARD + payload.length + i] != GUARD_BYTE) {
        return "a byte beside the target was written";
      }
    }
    return null;
  }

  /** Bytes that {@link #mismatch} compares. */
  long verified() {
    return payload.length;
  }

  /** The first {@code count} samples of the sender's kernel. */
  long[] samples(int count) {
    long[] values = new long[count];
    samples.read(0, MemorySegment.ofArray(values));
    return values;
  }

  /** Nanoseconds between the stamps of the sender's kernel. */
  long nanos() {
    return stamps.getLong(Long.BYTES) - stamps.getLong(0);
  }

  @Override
  public void close() {
    memory.close();
  }
}
