package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
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
 * Large RDMA WRITEs through a pair of software HCAs on one core, beside a plain copy between the
 * same buffers: how far the HCA is from being bound by memory. Both move the same bytes, so the
 * ratio of their times is the figure.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"-Xmx2g", "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class HcaCopyBenchmark {
  private static final int BLOCKS = 64;
  private static final long MINUTE = 60_000_000_000L;

  /** Bytes of a message. */
  @Param({"65536", "1048576", "16777216"})
  public int bytes = 65536;

  /** Counters besides messages. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.OPERATIONS)
  public static class Counters {
    /** Bytes of payload moved. */
    public long payload;
  }

  private final BooleanSupplier completed = this::lastHasCompleted;
  private @Nullable Pair opened;
  private @Nullable ThreadPort cpu;
  private long index;

  /** Connects the pair, and touches both buffers. */
  @Setup(Level.Trial)
  public void connect() {
    Pair pair = new Pair(BLOCKS, bytes, false);
    opened = pair;
    cpu = pair.fabric.attachThread(Locus.cpu(0), budget -> 0);
    pair.source.fill(0, bytes, (byte) 1);
    pair.target.fill(0, bytes, (byte) 2);
    for (int slot = 0; slot < BLOCKS; slot++) {
      long wqe = pair.queuePair.sendRingAddress() + (long) slot * SendQueue.BLOCK;
      RemoteAddressSegment.write(
          wqe + SendQueue.UNIT, pair.target.address(), pair.targetRegion.rkey());
      DataSegment.write(
          wqe + 2 * SendQueue.UNIT, bytes, pair.sourceRegion.lkey(), pair.source.address());
    }
  }

  private Pair pair() {
    return Objects.requireNonNull(opened);
  }

  /** Posts one WRITE, rings, and runs both HCAs until its CQE is there. */
  @Benchmark
  public long write(Counters counters) {
    Pair pair = pair();
    int qpn = pair.queuePair.number();
    ControlSegment.write(
        pair.queuePair.sendRingAddress() + (index & (BLOCKS - 1)) * SendQueue.BLOCK,
        0,
        (int) index,
        Opcode.RDMA_WRITE,
        qpn,
        3,
        ControlSegment.CQ_UPDATE,
        0);
    index++;
    DoorbellRecord.putSendIndex(pair.queuePair.recordAddress(), index);
    Objects.requireNonNull(cpu)
        .store64(
            pair.queuePair.doorbellAddress(),
            Doorbell.encode(index, qpn),
            Access.MMIO | Access.SYS);
    RunOutcome outcome = pair.fabric.run(completed, MINUTE);
    if (outcome != RunOutcome.DONE || Cqe.opcode(lastCqe()) != Cqe.REQUESTER) {
      throw new IllegalStateException("WQE %d ended with %s".formatted(index - 1, outcome));
    }
    counters.payload += bytes;
    return index;
  }

  /** The same bytes, by one copy. */
  @Benchmark
  public long copy(Counters counters) {
    RawMemory.copy(pair().source.address(), pair().target.address(), bytes);
    counters.payload += bytes;
    return index;
  }

  private boolean lastHasCompleted() {
    return Cqe.isOwnedBySoftware(lastCqe(), index - 1, BLOCKS);
  }

  private long lastCqe() {
    return Cqe.entryAddress(pair().completions.ringAddress(), BLOCKS, index - 1);
  }

  /** Closes the pair. */
  @TearDown
  public void close() {
    pair().close();
  }
}
