package dev.doorbell.experiments.scenario.recovery;

import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ExecutedRequests;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.experiments.scenario.world.Endpoint;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A queue pair of rank 0, and its peer at rank 1, over one port. */
class PortPair implements AutoCloseable {
  /** At least as many as a run has messages. */
  static final int RECEIVES = 512;

  private static final int RECEIVE_BYTES = 8;

  final Ports ports;
  private final int port;
  private final Tally tally;
  private final List<Memory> allocated = new ArrayList<>();
  private final CompletionQueue[] completions = new CompletionQueue[Ports.RANKS];
  private final QueuePair[] ends = new QueuePair[Ports.RANKS];
  private boolean connected;

  /** Messages that rank 1 has executed, over all connections. */
  static final class Tally {
    private long messages;

    long messages() {
      return messages;
    }
  }

  /**
   * Creates both ends, with queues in GPU memory. Rank 1 has receives for messages that take one:
   * those with an immediate.
   */
  PortPair(Ports ports, int port, int blocks, Tally tally) {
    this.ports = ports;
    this.port = port;
    this.tally = tally;
    for (int rank = 0; rank < Ports.RANKS; rank++) {
      MemoryProvider memory = memory(rank);
      completions[rank] =
          ports
              .domain(rank, port)
              .createCompletionQueue(
                  new CompletionQueueAttributes(
                      blocks, false, true, MemoryKind.DEVICE, MemoryKind.DEVICE),
                  memory);
      ends[rank] =
          ports
              .domain(rank, port)
              .createQueuePair(
                  new QueuePairAttributes(
                      blocks,
                      rank == 1 ? RECEIVES : 0,
                      completions[rank],
                      rank == 1 ? completions[rank] : null,
                      MemoryKind.DEVICE,
                      MemoryKind.DEVICE),
                  memory);
    }
  }

  private MemoryProvider memory(int rank) {
    return (kind, bytes, label) -> {
      Memory memory = ports.gpu(rank).allocate(kind, bytes, label);
      allocated.add(memory);
      return memory;
    };
  }

  QueuePair sender() {
    return ends[0];
  }

  CompletionQueue completions() {
    return completions[0];
  }

  Memory at(long address) {
    return allocated.stream()
        .filter(memory -> memory.address() == address)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no queue begins at 0x%x".formatted(address)));
  }

  void connect() {
    count();
    for (QueuePair end : ends) {
      end.toReset();
    }
    for (int rank = 0; rank < Ports.RANKS; rank++) {
      ends[rank].connect(ends[1 - rank].address(), Endpoint.ALL_RIGHTS, Ports.QUICK);
    }
    postReceives(ends[1]);
    connected = true;
  }

  /** Posted anew after each reset, which drops them. */
  private void postReceives(QueuePair end) {
    for (int i = 0; i < RECEIVES; i++) {
      ReceiveSegment.write(
          end.receiveRingAddress() + (long) i * ReceiveSegment.BYTES,
          RECEIVE_BYTES,
          ports.key(1, port),
          ports.buffer(1).address());
    }
    DoorbellRecord.putReceiveIndex(end.recordAddress(), RECEIVES);
  }

  public void stop() {
    if (connected) {
      ends[1].toError();
      ends[0].toError();
    }
  }

  public @Nullable ExecutedRequests executed() {
    return ends[1].executed();
  }

  /** Ends the connection and counts what was executed over it. */
  void count() {
    ExecutedRequests executed = connected ? ends[1].executed() : null;
    if (executed != null) {
      tally.messages += executed.messages();
    }
    connected = false;
  }

  int port() {
    return port;
  }

  @Override
  public void close() {
    count();
    for (int rank = 0; rank < Ports.RANKS; rank++) {
      ends[rank].close();
      completions[rank].close();
    }
  }
}
