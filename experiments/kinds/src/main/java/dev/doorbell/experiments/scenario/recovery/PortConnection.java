package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.hca.SentRequests;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.core.queue.generated.QueuePairView;
import dev.doorbell.proxy.SendQueueAccess;
import dev.doorbell.proxy.recovery.KernelConnection;
import dev.doorbell.proxy.recovery.KernelConnection.KernelQueue;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** A connection on which a kernel of rank 0 posts, over one port. */
final class PortConnection extends PortPair implements KernelConnection {
  private static final long DEADLINE_NANOS = 500_000_000L;
  private static final int BATCH = 1;

  private final Memory counters;
  private final Memory error;
  private final KernelQueue queue;
  private final IntConsumer activated;

  PortConnection(
      Ports ports, int port, int blocks, boolean exclusive, Tally tally, IntConsumer activated) {
    super(ports, port, blocks, tally);
    this.activated = activated;
    counters = ports.gpu(0).allocate(MemoryKind.DEVICE, Abi.countersBytes(blocks), "counters");
    error = ports.gpu(0).allocate(MemoryKind.HOST, ErrorRecord.BYTES, "error record");
    SendQueueAccess access = SendQueueAccess.of(sender(), error.address(), 0);
    QueuePairView view =
        new QueuePairView(
            access.ring(),
            access.record(),
            ports.gpu(0).mapDeviceRegisters(access.doorbell(), Long.BYTES),
            access.completionRing(),
            completions().recordAddress(),
            counters.address(),
            error.address(),
            0,
            0,
            DEADLINE_NANOS,
            blocks,
            access.completionEntries(),
            access.number24(),
            exclusive ? QueuePairView.FLAG_EXCLUSIVE : 0,
            0,
            BATCH,
            ports.maxInline(),
            0);
    queue =
        new KernelQueue(
            view, access, at(access.ring()), at(access.completionRing()), counters, error);
  }

  @Override
  public String name() {
    return "port" + port();
  }

  @Override
  public KernelQueue queue() {
    return queue;
  }

  @Override
  public @Nullable SentRequests sent() {
    return sender().sent();
  }

  @Override
  public void reconnect() {
    connect();
  }

  @Override
  public int localKey(int key) {
    return ports.key(0, port());
  }

  @Override
  public int remoteKey(int key) {
    return ports.key(1, port());
  }

  @Override
  public void activate() {
    activated.accept(port());
  }

  @Nullable String firstError() {
    ErrorRecord record = ErrorRecord.decode(error.getBytes(0, ErrorRecord.BYTES));
    return record.syndrome() == 0
        ? null
        : "WQE %d on %s ended with syndrome 0x%02x, %s"
            .formatted(
                record.wqeIndex(), name(), record.syndrome(), Syndrome.name(record.syndrome()));
  }

  @Override
  public void deliver(long address, long value) {
    Memory buffer = ports.buffer(0);
    buffer.putLong(address - buffer.address(), value);
  }

  @Override
  public void close() {
    super.close();
    counters.close();
    error.close();
  }
}
