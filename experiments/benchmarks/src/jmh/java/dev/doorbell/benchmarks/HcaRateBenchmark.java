package dev.doorbell.benchmarks;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
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
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * 8-byte RDMA WRITEs a second through a pair of software HCAs on one core: fetch, decode, keys,
 * packet, the peer's checks, payload, acknowledgement, CQE. Writing the WQEs and ringing once a
 * batch is in the figure.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {"-Xmx2g", "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class HcaRateBenchmark {
  private static final int BLOCKS = 1024;
  private static final int BATCH = 256;
  private static final int BYTES = 8;
  private static final long MINUTE = 60_000_000_000L;

  /** Selects whether every WQE requests a CQE, or the last of a batch only. */
  @Param({"every", "batch"})
  public String signalled = "every";

  private final Pair pair = new Pair(BLOCKS, BYTES, false);
  private final ThreadPort port = pair.fabric.attachThread(Locus.cpu(0), budget -> 0);
  private final BooleanSupplier completed = this::lastHasCompleted;
  private long index;
  private long completions;

  /** Writes the parts of the WQEs that never change. */
  @Setup(Level.Trial)
  public void connect() {
    for (int slot = 0; slot < BLOCKS; slot++) {
      long wqe = pair.queuePair.sendRingAddress() + (long) slot * SendQueue.BLOCK;
      RemoteAddressSegment.write(
          wqe + SendQueue.UNIT, pair.target.address(), pair.targetRegion.rkey());
      DataSegment.write(
          wqe + 2 * SendQueue.UNIT, BYTES, pair.sourceRegion.lkey(), pair.source.address());
    }
  }

  /** Posts a batch, rings once, and runs both HCAs until the CQE of its last WQE is there. */
  @Benchmark
  @OperationsPerInvocation(BATCH)
  public long write() {
    int qpn = pair.queuePair.number();
    long ring = pair.queuePair.sendRingAddress();
    boolean all = signalled.equals("every");
    for (int i = 0; i < BATCH; i++, index++) {
      ControlSegment.write(
          ring + (index & (BLOCKS - 1)) * SendQueue.BLOCK,
          0,
          (int) index,
          Opcode.RDMA_WRITE,
          qpn,
          3,
          all || i == BATCH - 1 ? ControlSegment.CQ_UPDATE : 0,
          0);
    }
    DoorbellRecord.putSendIndex(pair.queuePair.recordAddress(), index);
    port.store64(
        pair.queuePair.doorbellAddress(), Doorbell.encode(index, qpn), Access.MMIO | Access.SYS);
    completions += all ? BATCH : 1;
    RunOutcome outcome = pair.fabric.run(completed, MINUTE);
    int opcode = Cqe.opcode(lastCqe());
    if (outcome != RunOutcome.DONE || opcode != Cqe.REQUESTER) {
      throw new IllegalStateException(
          "the batch before WQE %d ended with %s, its last CQE says %s"
              .formatted(index, outcome, Cqe.opcodeName(opcode)));
    }
    return index;
  }

  private boolean lastHasCompleted() {
    return Cqe.isOwnedBySoftware(lastCqe(), completions - 1, BLOCKS);
  }

  private long lastCqe() {
    return Cqe.entryAddress(pair.completions.ringAddress(), BLOCKS, completions - 1);
  }

  /** Closes the pair. */
  @TearDown
  public void close() {
    pair.close();
  }
}
