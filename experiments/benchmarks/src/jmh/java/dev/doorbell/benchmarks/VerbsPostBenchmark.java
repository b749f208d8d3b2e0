package dev.doorbell.benchmarks;

import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.ptxvm.launch.VmGpu;
import dev.doorbell.verbs.VerbsHca;
import dev.doorbell.verbs.device.DeviceFilter;
import dev.doorbell.verbs.library.VerbsProbe;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of posting by {@code ibv_post_send} and polling by {@code ibv_poll_cq} through FFM, on
 * whatever device libibverbs shows: {@code ./doorbell hca exec -- ./doorbell bench VerbsPost} where
 * there is none.
 *
 * <p>An idle step is one call that finds nothing. A write is our WQE read, made a request, posted,
 * carried out by the device, polled and written as a CQE; all but the device's part is this
 * thread's.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"-Xmx1g", "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class VerbsPostBenchmark {
  private static final int BLOCKS = 1024;
  private static final int BATCH = 256;
  private static final int BYTES = 8;
  private static final long MINUTE = 60_000_000_000L;

  private final DirectFabric fabric = new DirectFabric();
  private final VmGpu gpu = new VmGpu(fabric, Locus.gpu(0, 0));
  private final VerbsHca hca = open();
  private final ThreadPort port = fabric.attachThread(Locus.cpu(0), budget -> 0);
  private final ProtectionDomain domain = hca.allocateProtectionDomain();
  private final CompletionQueue completions = completionQueue();
  private final QueuePair queuePair = queuePair(completions);
  private final BooleanSupplier completed = this::lastHasCompleted;

  /** Every other time it is asked: before a sweep and after it. */
  private final BooleanSupplier second = this::isSecondTime;

  private long index;
  private long asked;

  private VerbsHca open() {
    if (!(VerbsProbe.probe() instanceof Probe.Ready)) {
      throw new IllegalStateException(
          VerbsProbe.probe().describe()
              + "; or './doorbell hca exec -- ./doorbell bench VerbsPost'");
    }
    return new VerbsHca(fabric, Locus.nic(0, 0), DeviceFilter.ALL, -1);
  }

  private CompletionQueue completionQueue() {
    return domain.createCompletionQueue(
        new CompletionQueueAttributes(BLOCKS, false, true, MemoryKind.HOST, MemoryKind.HOST), gpu);
  }

  private QueuePair queuePair(CompletionQueue queue) {
    return domain.createQueuePair(
        new QueuePairAttributes(BLOCKS, 0, queue, null, MemoryKind.HOST, MemoryKind.HOST), gpu);
  }

  /** Connects it to itself, and writes the parts of the WQEs that never change. */
  @Setup(Level.Trial)
  public void connect() {
    queuePair.connect(queuePair.address(), Pair.RIGHTS, ConnectionAttributes.DEFAULT);
    Memory buffer = gpu.allocate(MemoryKind.HOST, 4096, "buffer");
    MemoryRegion region = domain.register(buffer, Pair.RIGHTS);
    for (int slot = 0; slot < BLOCKS; slot++) {
      long wqe = queuePair.sendRingAddress() + (long) slot * SendQueue.BLOCK;
      RemoteAddressSegment.write(wqe + SendQueue.UNIT, buffer.address() + 2048, region.rkey());
      DataSegment.write(wqe + 2 * SendQueue.UNIT, BYTES, region.lkey(), buffer.address());
    }
  }

  /** Steps everything once with nothing to do: one {@code ibv_poll_cq}. */
  @Benchmark
  public RunOutcome idleStep() {
    return fabric.run(second, MINUTE);
  }

  /** Posts a batch, each with a completion, rings once, and waits for the last. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long write() {
    long ring = queuePair.sendRingAddress();
    for (int i = 0; i < BATCH; i++, index++) {
      ControlSegment.write(
          ring + (index & (BLOCKS - 1)) * SendQueue.BLOCK,
          0,
          (int) index,
          Opcode.RDMA_WRITE,
          queuePair.number(),
          3,
          ControlSegment.CQ_UPDATE,
          0);
    }
    DoorbellRecord.putSendIndex(queuePair.recordAddress(), index);
    port.store64(
        queuePair.doorbellAddress(), Doorbell.encode(index, queuePair.number()), Access.MMIO);
    if (fabric.run(completed, MINUTE) != RunOutcome.DONE) {
      throw new IllegalStateException("the device did not complete block " + index);
    }
    DoorbellRecord.putConsumerIndex(completions.recordAddress(), index);
    return index;
  }

  private boolean isSecondTime() {
    return (asked++ & 1) != 0;
  }

  private boolean lastHasCompleted() {
    long last = index - 1;
    long entry = Cqe.entryAddress(completions.ringAddress(), BLOCKS, last);
    if (!Cqe.isOwnedBySoftware(entry, last, BLOCKS)) {
      return false;
    }
    if (Cqe.isError(Cqe.opcode(entry))) {
      throw new IllegalStateException("a WRITE failed");
    }
    return true;
  }

  /** Ends it. */
  @TearDown(Level.Trial)
  public void close() {
    hca.close();
    gpu.close();
    fabric.close();
  }
}
