package dev.doorbell.softhca.foreign;

import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.queuepair.HcaObjects;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import dev.doorbell.softhca.queuepair.SoftQueuePair.FrontEnd;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair whose work requests software stores into memory of the HCA, in another format than
 * mlx5's. Behind it stand reliable connections of the HCA, whose numbers follow each other; the
 * first has this queue pair's.
 *
 * <p>Its memory is a page of registers, and behind it the ring. Stores arrive on any thread, are
 * copied as they come, and are acted on when the first connection runs.
 */
public abstract class ForeignQueuePair extends FrontEnd implements QueuePair, MmioTarget, Owned {
  /** End of the numbers of queue pairs: EFA has 16 bits for them. */
  private static final int END_OF_NUMBERS = 1 << 16;

  private final HcaObjects objects;
  final HcaServices hca;
  private final ObjectOwner domain;
  final QueuePairAttributes attributes;
  private SoftQueuePair[] connections = {};

  /** Copy of what software stored to the ring. */
  final MemorySegment shadow;

  /** Memory of the GPU or the host that the HCA writes and software reads. */
  final Memory words;

  private @Nullable Allocation pages;
  private final int ringBytes;

  int peer;

  private boolean closed;

  /**
   * @param entryBytes of a work request in the ring
   * @param words bytes that the HCA writes
   */
  ForeignQueuePair(
      HcaObjects objects,
      ObjectOwner domain,
      QueuePairAttributes attributes,
      int entryBytes,
      Memory words) {
    this.objects = objects;
    this.hca = objects.hca;
    this.domain = domain;
    this.attributes = attributes;
    this.words = words;
    this.ringBytes = attributes.sendBlocks() * entryBytes;
    this.shadow = Arena.ofAuto().allocate(ringBytes, 64);
    words.fill(0, words.size(), (byte) 0);
  }

  /**
   * Creates its connections and its memory.
   *
   * @param count connections behind it
   * @param blocks of the ring of each
   */
  final void open(int count, int blocks) {
    int number = objects.queuePairs.reserve(count, END_OF_NUMBERS);
    if (number < 0) {
      throw new HcaException(
          "%s has no %d numbers for a queue pair left; close some first"
              .formatted(hca.name(), count),
          Errno.ENOMEM);
    }
    QueuePairAttributes each =
        new QueuePairAttributes(
            blocks,
            attributes.receiveEntries(),
            attributes.sendQueue(),
            attributes.receiveQueue(),
            attributes.ringIn(),
            attributes.recordIn());
    List<SoftQueuePair> made = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      SoftQueuePair one =
          new SoftQueuePair(
              objects,
              domain,
              number + i,
              each,
              completions(i),
              receiveCompletions(),
              null,
              null,
              null,
              this);
      objects.queuePairs.put(number + i, one);
      made.add(one);
    }
    connections = made.toArray(SoftQueuePair[]::new);
    int psn = address().startPsn();
    for (SoftQueuePair one : made) {
      one.startPsn(psn);
    }
    long page = Doorbell.UAR_BYTES;
    long bytes = page + (ringBytes + page - 1) / page * page;
    Allocation memory =
        hca.allocate(MemoryKind.UAR, bytes, "%s qp 0x%x queues".formatted(hca.name(), number));
    pages = memory;
    for (long at = 0; at < bytes; at += page) {
      hca.port().onMmio(memory.address() + at, this);
    }
  }

  final SoftQueuePair connection(int number) {
    return connections[number];
  }

  private Allocation pages() {
    return Objects.requireNonNull(pages);
  }

  /** Completions of requests of connection {@code number}. */
  abstract Completions completions(int number);

  /** Completions of receives of all connections; null without receives. */
  abstract @Nullable Completions receiveCompletions();

  /** A store to the register at {@code offset}. On any thread. */
  abstract void register(int offset, long value);

  /** Forgets what was posted. */
  abstract void restart();

  /** Its connections are closed. */
  void released() {}

  final SoftQueuePair first() {
    return connections[0];
  }

  @Override
  public final void mmioWrite(long address, long source, int bytes) {
    long offset = address - pages().address() - Doorbell.UAR_BYTES;
    if (offset < 0) {
      long value =
          bytes >= Long.BYTES ? RawMemory.getLong(source) : RawMemory.getInt(source) & 0xffff_ffffL;
      register((int) offset + Doorbell.UAR_BYTES, value);
      inform();
      return;
    }
    int length = (int) Math.min(bytes, ringBytes - offset);
    long to = shadow.address() + offset;
    for (int i = 0; i < length; i += Long.BYTES) {
      if (length - i >= Long.BYTES) {
        RawMemory.putLongRelease(to + i, RawMemory.getLong(source + i));
      } else {
        RawMemory.copy(source + i, to + i, length - i);
      }
    }
  }

  /** Informs all connections of a store; the first of them runs. On any thread. */
  final void inform() {
    for (SoftQueuePair one : connections) {
      one.requests.informed();
    }
    first().ringFront();
  }

  /** All connections are in error from now on. */
  final void fail() {
    for (SoftQueuePair one : connections) {
      if (one.state() == QueuePairState.RTS || one.state() == QueuePairState.RTR) {
        one.enterError();
      }
    }
  }

  @Override
  public final int number() {
    return first().number;
  }

  @Override
  public final QueuePairAttributes attributes() {
    return attributes;
  }

  /** In error as soon as one connection is: the others follow when they run next. */
  @Override
  public final QueuePairState state() {
    for (SoftQueuePair one : connections) {
      if (one.state() == QueuePairState.ERR) {
        return QueuePairState.ERR;
      }
    }
    return first().state();
  }

  @Override
  public final QueuePairAddress address() {
    return first().address();
  }

  @Override
  public final long sendRingAddress() {
    return pages().address() + Doorbell.UAR_BYTES;
  }

  @Override
  public final long doorbellAddress() {
    return pages().address();
  }

  /** There is no doorbell record: its memory is not written to. */
  @Override
  public final long recordAddress() {
    return words.address();
  }

  @Override
  public final int blueFlameBytes() {
    return 0;
  }

  @Override
  public final void toInit(Set<AccessRight> rights) {
    for (SoftQueuePair one : connections) {
      one.toInit(rights);
    }
  }

  @Override
  public final void toRtr(QueuePairAddress to, ConnectionAttributes with) {
    for (int i = 0; i < connections.length; i++) {
      connections[i].toRtr(
          new QueuePairAddress(to.hca(), to.number() + i, to.startPsn(), to.mtu()), with);
    }
    peer = to.number();
  }

  @Override
  public final void toRtr(ConnectionAttributes with) {
    first().toRtr(with);
  }

  @Override
  public final void toRts(ConnectionAttributes with) {
    for (SoftQueuePair one : connections) {
      one.toRts(with);
    }
  }

  @Override
  public final void toError() {
    for (SoftQueuePair one : connections) {
      one.toError();
    }
  }

  @Override
  public final void toReset() {
    for (SoftQueuePair one : connections) {
      one.toReset();
    }
    restart();
    words.fill(0, words.size(), (byte) 0);
  }

  @Override
  public final String toString() {
    return "queue pair 0x%x".formatted(number());
  }

  @Override
  public final void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (SoftQueuePair one : connections) {
      one.close();
    }
    Allocation memory = pages();
    for (long at = 0; at < memory.size(); at += Doorbell.UAR_BYTES) {
      hca.port().offMmio(memory.address() + at);
    }
    hca.free(memory);
    released();
    domain.closing(this);
    words.close();
  }

  /** Hands the completions of one connection to the front end before it. */
  abstract static class FrontCompletions extends Completions {
    /**
     * A request is complete.
     *
     * @param index of its first block
     * @param syndrome of {@code core.mlx5.Syndrome}, or 0
     */
    void requested(int index, int syndrome) {
      throw new IllegalStateException("no requests complete here");
    }

    /**
     * A receive is complete.
     *
     * @param opcode of a responder's CQE, or {@link Cqe#RESPONDER_ERROR}
     * @param receive which
     */
    void received(int opcode, int receive, int syndrome, int bytes, int immediate) {
      throw new IllegalStateException("no receives complete here");
    }

    @Override
    public final int room(QueuePairContext queuePair) {
      return ROOM;
    }

    @Override
    public final boolean isCollapsed() {
      return false;
    }

    @Override
    public final void writer(DeviceUnit unit) {}

    @Override
    public final void requester(int qpn, int opcode, int wqeIndex, int bytes) {
      requested(wqeIndex, 0);
    }

    @Override
    public final void requesters(long count, int qpn, int opcode, int wqeIndex, int bytes) {
      requested(wqeIndex, 0);
    }

    @Override
    public final void user(int userIndex) {
      // Its CQEs go to no ring of a user.
    }

    @Override
    public final void responder(
        int opcode,
        int qpn,
        int userIndex,
        int receiveIndex,
        int bytes,
        int immediate,
        boolean solicited,
        int sender) {
      received(opcode, receiveIndex, 0, bytes, immediate);
    }

    @Override
    public final void error(
        int cqeOpcode, int syndrome, int vendorSyndrome, int opcode, int qpn, int wqeIndex) {
      if (cqeOpcode == Cqe.REQUESTER_ERROR) {
        requested(wqeIndex, syndrome);
      } else {
        received(cqeOpcode, wqeIndex, syndrome, 0, 0);
      }
    }

    @Override
    public final void use() {}

    @Override
    public final void unuse(QueuePairContext queuePair) {}
  }
}
