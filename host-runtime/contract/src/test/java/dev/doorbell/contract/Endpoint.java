package dev.doorbell.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.hca.Transport;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.ReceiveSegment;
import dev.doorbell.core.mlx5.SendQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One side of a connection in a test: a queue pair with buffers, and a poster that builds WQEs byte
 * by byte as a kernel does.
 */
public final class Endpoint implements AutoCloseable {
  /** Everything. */
  public static final Set<AccessRight> ALL =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);

  /** Properties of an endpoint. */
  public record Shape(
      int sendBlocks,
      int receiveEntries,
      CompletionQueueAttributes completions,
      MemoryKind ringIn,
      MemoryKind recordIn,
      MemoryKind bufferIn,
      long bufferBytes,
      Set<AccessRight> regionRights,
      Set<AccessRight> queuePairRights,
      Transport transport,
      @Nullable SharedReceiveQueue sharedReceives) {

    /** A reliable connection with receives of its own. */
    public Shape(
        int sendBlocks,
        int receiveEntries,
        CompletionQueueAttributes completions,
        MemoryKind ringIn,
        MemoryKind recordIn,
        MemoryKind bufferIn,
        long bufferBytes,
        Set<AccessRight> regionRights,
        Set<AccessRight> queuePairRights) {
      this(
          sendBlocks,
          receiveEntries,
          completions,
          ringIn,
          recordIn,
          bufferIn,
          bufferBytes,
          regionRights,
          queuePairRights,
          Transport.RC,
          null);
    }

    /** Selects another transport; call it last. */
    public Shape withTransport(Transport other, @Nullable SharedReceiveQueue shared) {
      return new Shape(
          sendBlocks,
          shared == null ? receiveEntries : 0,
          completions,
          ringIn,
          recordIn,
          bufferIn,
          bufferBytes,
          regionRights,
          queuePairRights,
          other,
          shared);
    }

    public static Shape usual() {
      return new Shape(
          64,
          16,
          CompletionQueueAttributes.ring(256, MemoryKind.HOST),
          MemoryKind.HOST,
          MemoryKind.HOST,
          MemoryKind.HOST,
          1 << 20,
          ALL,
          ALL);
    }

    public Shape withSendBlocks(int blocks) {
      return new Shape(
          blocks,
          receiveEntries,
          completions,
          ringIn,
          recordIn,
          bufferIn,
          bufferBytes,
          regionRights,
          queuePairRights);
    }

    public Shape withCompletions(CompletionQueueAttributes attributes) {
      return new Shape(
          sendBlocks,
          receiveEntries,
          attributes,
          ringIn,
          recordIn,
          bufferIn,
          bufferBytes,
          regionRights,
          queuePairRights);
    }

    public Shape withPlaces(MemoryKind rings, MemoryKind record) {
      return new Shape(
          sendBlocks,
          receiveEntries,
          completions,
          rings,
          record,
          bufferIn,
          bufferBytes,
          regionRights,
          queuePairRights);
    }

    public Shape withBufferBytes(long bytes) {
      return new Shape(
          sendBlocks,
          receiveEntries,
          completions,
          ringIn,
          recordIn,
          bufferIn,
          bytes,
          regionRights,
          queuePairRights);
    }

    public Shape withBufferIn(MemoryKind kind) {
      return new Shape(
          sendBlocks,
          receiveEntries,
          completions,
          ringIn,
          recordIn,
          kind,
          bufferBytes,
          regionRights,
          queuePairRights);
    }

    public Shape withRights(Set<AccessRight> region, Set<AccessRight> queuePair) {
      return new Shape(
          sendBlocks,
          receiveEntries,
          completions,
          ringIn,
          recordIn,
          bufferIn,
          bufferBytes,
          region,
          queuePair);
    }

    public Shape withReceives(int entries) {
      return new Shape(
          sendBlocks,
          entries,
          completions,
          ringIn,
          recordIn,
          bufferIn,
          bufferBytes,
          regionRights,
          queuePairRights);
    }
  }

  /** A CQE, copied out of the ring. */
  public record Completion(
      int opcode, int syndrome, int wqeOpcode, int qpn, int counter, int bytes, int immediate) {
    public boolean isError() {
      return Cqe.isError(opcode);
    }
  }

  public final HcaWorld world;
  public final int side;
  public final ProtectionDomain domain;
  public final CompletionQueue sendQueue;
  public final CompletionQueue receiveQueue;
  public final QueuePair queuePair;
  public final Memory buffer;
  public final MemoryRegion region;
  private final Shape shape;
  private final boolean ownsDomain;
  private final @Nullable ForeignQueue foreign;

  /** A WQE is built here and copied into the ring, which it may run over the end of. */
  final MemorySegment image = Arena.ofAuto().allocate(1024, 64);

  private long posted;
  private long received;
  private long sendPolled;
  private long receivePolled;

  public Endpoint(HcaWorld world, int side, Shape shape) {
    this(world, side, shape, world.hca(side).allocateProtectionDomain(), true);
  }

  public Endpoint(HcaWorld world, int side, Shape shape, ProtectionDomain domain) {
    this(world, side, shape, domain, false);
  }

  private Endpoint(
      HcaWorld world, int side, Shape shape, ProtectionDomain domain, boolean ownsDomain) {
    this.world = world;
    this.side = side;
    this.shape = shape;
    this.domain = domain;
    this.ownsDomain = ownsDomain;
    this.sendQueue = domain.createCompletionQueue(shape.completions, world.memory(side));
    this.receiveQueue = domain.createCompletionQueue(shape.completions, world.memory(side));
    this.queuePair =
        domain.createQueuePair(
            new QueuePairAttributes(
                shape.sendBlocks,
                shape.receiveEntries,
                sendQueue,
                shape.receiveEntries == 0 && shape.sharedReceives == null ? null : receiveQueue,
                shape.ringIn,
                shape.recordIn,
                shape.transport,
                shape.sharedReceives),
            world.memory(side));
    this.foreign = ForeignQueue.of(this, shape.sendBlocks);
    this.buffer = world.memory(side).allocate(shape.bufferIn, shape.bufferBytes, "test buffer");
    this.region = domain.register(buffer, shape.regionRights);
  }

  /** Connects two endpoints, both to RTS. */
  public static void connect(Endpoint a, Endpoint b) {
    connect(a, b, ConnectionAttributes.DEFAULT);
  }

  public static void connect(Endpoint a, Endpoint b, ConnectionAttributes attributes) {
    a.queuePair.connect(b.queuePair.address(), a.shape.queuePairRights, attributes);
    b.queuePair.connect(a.queuePair.address(), b.shape.queuePairRights, attributes);
  }

  /** The index of the next free block. */
  public long posted() {
    return posted;
  }

  /** Sets the number of posted blocks, after a reset. */
  public void restart() {
    posted = 0;
    received = 0;
    if (foreign != null) {
      foreign.restart();
      sendPolled = foreign.polledAfterReset(sendPolled);
    }
  }

  public long address(long offset) {
    return buffer.address() + offset;
  }

  public EndpointWqe wqe(int opcode) {
    return new EndpointWqe(this, opcode);
  }

  /** A WRITE from this buffer to the peer's. */
  public EndpointWqe rdmaWrite(Endpoint peer, long from, long to, int bytes) {
    return wqe(Opcode.RDMA_WRITE).remote(peer.address(to), peer.region.rkey()).local(from, bytes);
  }

  /**
   * Copies what was built into the ring, without telling anybody.
   *
   * @return the index of its first block
   */
  long append(int units) {
    if (foreign != null) {
      posted++;
      return foreign.append(image.address(), units);
    }
    long index = posted;
    SendQueue.copyIn(queuePair.sendRingAddress(), shape.sendBlocks, index, units, image.address());
    posted += SendQueue.blocks(units);
    return index;
  }

  /** Publishes what was written in the doorbell record. */
  public void record() {
    if (foreign != null) {
      return;
    }
    DoorbellRecord.putSendIndex(queuePair.recordAddress(), posted);
  }

  /** Rings the doorbell. */
  public void ring() {
    ring(posted);
  }

  /** Rings the doorbell with an index of choice. */
  public void ring(long index) {
    if (foreign != null) {
      foreign.ring();
      return;
    }
    world.store64(side, queuePair.doorbellAddress(), Doorbell.encode(index, queuePair.number()));
  }

  /** Posts a receive of one segment. */
  public void postReceive(int bytes, int key, long address) {
    if (foreign != null) {
      foreign.postReceive(received++, bytes, key, address);
      return;
    }
    ReceiveSegment.write(
        ReceiveSegment.wqeAddress(
            queuePair.receiveRingAddress(), shape.receiveEntries, SendQueue.UNIT, received),
        bytes,
        key,
        address);
    received++;
    DoorbellRecord.putReceiveIndex(queuePair.recordAddress(), received);
  }

  public void postReceive(long offset, int bytes) {
    postReceive(bytes, region.lkey(), address(offset));
  }

  /** Waits for the next CQE of the send queue. */
  public Completion pollSend() {
    Completion completion = poll(sendQueue, sendPolled);
    sendPolled++;
    DoorbellRecord.putConsumerIndex(sendQueue.recordAddress(), sendPolled);
    return completion;
  }

  /** Waits for the next CQE of the receive queue. */
  public Completion pollReceive() {
    Completion completion = poll(receiveQueue, receivePolled);
    receivePolled++;
    DoorbellRecord.putConsumerIndex(receiveQueue.recordAddress(), receivePolled);
    return completion;
  }

  /** True when there is a CQE that was not polled. */
  public boolean hasSendCompletion() {
    return isThere(sendQueue, sendPolled);
  }

  /** Returns true if the next send completion, which has arrived, is an error; does not poll it. */
  public boolean nextSendIsError() {
    if (foreign != null) {
      return foreign.read(sendQueue, sendPolled).isError();
    }
    int entries = sendQueue.attributes().entries();
    return Cqe.isError(Cqe.opcode(Cqe.entryAddress(sendQueue.ringAddress(), entries, sendPolled)));
  }

  /** True when receive {@code index} was completed with a success. */
  public boolean isReceiveCompleted(int index) {
    int entries = receiveQueue.attributes().entries();
    return isThere(receiveQueue, index)
        && !Cqe.isError(Cqe.opcode(Cqe.entryAddress(receiveQueue.ringAddress(), entries, index)));
  }

  public boolean hasReceiveCompletion() {
    return isThere(receiveQueue, receivePolled);
  }

  private boolean isThere(CompletionQueue queue, long index) {
    if (foreign != null) {
      return foreign.isThere(queue, index);
    }
    int entries = queue.attributes().entries();
    return Cqe.isOwnedBySoftware(
        Cqe.entryAddress(queue.ringAddress(), entries, index), index, entries);
  }

  private Completion poll(CompletionQueue queue, long index) {
    assertThat(world.runUntil(() -> isThere(queue, index)))
        .as("CQE %d of completion queue 0x%x came", index, queue.number())
        .isTrue();
    if (foreign != null) {
      return foreign.read(queue, index);
    }
    return read(Cqe.entryAddress(queue.ringAddress(), queue.attributes().entries(), index));
  }

  public static Completion read(long entry) {
    int opcode = Cqe.opcode(entry);
    boolean error = Cqe.isError(opcode);
    return new Completion(
        opcode,
        error ? ErrorCqe.syndrome(entry) : 0,
        Cqe.wqeOpcode(entry),
        Cqe.qpn(entry),
        Cqe.wqeCounter(entry),
        error ? 0 : Cqe.byteCount(entry),
        error ? 0 : Cqe.immediate(entry));
  }

  @Override
  public void close() {
    region.close();
    buffer.close();
    queuePair.close();
    receiveQueue.close();
    sendQueue.close();
    if (ownsDomain) {
      domain.close();
    }
  }
}
