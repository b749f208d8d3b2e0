package dev.doorbell.softhca.foreign;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.efa.CompletionEntry;
import dev.doorbell.core.efa.TxWqe;
import dev.doorbell.core.efa.generated.EfaView;
import dev.doorbell.core.efa.generated.TxBuffer;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.hca.DeviceQueue;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.InlineSegment;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.mlx5.generated.RemoteAddressSegment;
import dev.doorbell.softhca.device.HcaServices;
import dev.doorbell.softhca.foreign.ForeignQueuePair.FrontCompletions;
import dev.doorbell.softhca.objects.Completions;
import dev.doorbell.softhca.objects.ObjectOwner;
import dev.doorbell.softhca.objects.QueuePairContext;
import dev.doorbell.softhca.objects.ReceiveSource;
import dev.doorbell.softhca.queuepair.HcaObjects;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of EFA's scalable reliable datagrams (SRD), with one peer.
 *
 * <p>Its messages travel over eight connections, between which nothing is ordered: an RDMA WRITE
 * packet by packet, any other message whole. Packets leave in any order, as the fabric chooses or
 * by a seed. What SRD's packets look like on the wire is not public; here they are RoCE's.
 *
 * <p>A work request with an error puts the queue pair into the error state, and flushes the others.
 */
public final class EfaQueuePair extends ForeignQueuePair {
  /** Registers: offsets in the first page. */
  static final int SEND_DOORBELL = 0;

  static final int RECEIVE_DOORBELL = 8;

  /** Connections of a queue pair. */
  private static final int CONNECTIONS = 8;

  private static final int BLOCKS = 64;
  private static final int MASK = 0xffff;

  /** Work requests that one doorbell may stand for ({@code max_tx_batch}, of 128 bytes each). */
  private static final int MAX_BATCH = 16;

  /** Packets among which the next one to leave is chosen. */
  private static final int WINDOW = 32;

  /** Runs in a row in which nothing leaves, at most. */
  private static final int MOST_IDLE = 8;

  private static final int NO_RECEIVES = 0;
  private static final int COMPLETED_OFFSET = 0;
  private static final int FAILED_OFFSET = 8;
  private static final int WORDS_BYTES = 64;

  private final EfaCompletionQueue sends;
  private final @Nullable EfaCompletionQueue receiveQueue;
  private final @Nullable EfaReceives receives;
  private final DevicePort port;
  private final int entries;
  private final boolean waits;
  private final SplittableRandom random;
  private final MemorySegment image = Arena.ofAuto().allocate(256, 64);

  /** The newest count that was rung, 16 bits, and whether a doorbell stood for too many. */
  private int rung;

  private boolean tooMany;

  /** Such a doorbell was seen: later ones are ignored until the queue pair is reset. */
  private boolean overrun;

  private long producer;
  private long decoded;
  private long outstanding;
  private final Message[] messages;
  private final Message[][] owners = new Message[CONNECTIONS][BLOCKS];
  private @Nullable Message current;
  private final List<Piece> window = new ArrayList<>();
  private int idle;
  private boolean blocked;
  private boolean failing;
  private long completed = EfaView.COUNTER_START;
  private long failed;
  private final List<Object> earlier = new ArrayList<>();

  /** A work request that is being carried out. */
  private static final class Message {
    private final long slot;
    private int id;
    private int operation;
    private int length;
    private int made;
    private int remaining;
    private int status;
    private boolean wantsCompletion;
    private final List<Object> known = new ArrayList<>();

    Message(long slot) {
      this.slot = slot;
    }
  }

  /** Part of a message that one connection sends. */
  private record Piece(Message message, int offset, int bytes) {}

  public EfaQueuePair(
      HcaObjects objects,
      ObjectOwner domain,
      QueuePairAttributes attributes,
      EfaCompletionQueue sends,
      @Nullable EfaCompletionQueue receiveQueue,
      @Nullable Memory receiveRing,
      Memory words) {
    super(objects, domain, attributes, TxWqe.BYTES, words);
    this.sends = sends;
    this.receiveQueue = receiveQueue;
    this.port = hca.port();
    this.entries = attributes.sendBlocks();
    this.receives =
        receiveRing == null
            ? null
            : new EfaReceives(port, receiveRing, attributes.receiveEntries());
    this.waits = hca.options().promises().sending() == Promise.Sending.ACKNOWLEDGED;
    this.random = new SplittableRandom(hca.name().hashCode() * 31L + words.address());
    this.messages = new Message[entries];
    for (int i = 0; i < entries; i++) {
      messages[i] = new Message(shadow.address() + (long) i * TxWqe.BYTES);
    }
    shadow.fill((byte) 0xff);
    words.putLong(COMPLETED_OFFSET, completed);
    open(CONNECTIONS, BLOCKS);
    sends.use();
    if (receiveQueue != null) {
      receiveQueue.use();
    }
  }

  /** Bytes that the HCA writes beside completions: counters. */
  public static long wordsBytes() {
    return WORDS_BYTES;
  }

  @Override
  public DeviceQueue deviceQueue() {
    EfaView view =
        new EfaView(
            words.address() + COMPLETED_OFFSET,
            words.address() + FAILED_OFFSET,
            EfaView.COUNTER_MAX,
            EfaView.COUNTER_START,
            peer,
            0,
            0,
            Math.min(MAX_BATCH, entries - 1));
    return new DeviceQueue(Promise.Queues.EFA, view.encode(), TxWqe.MAX_INLINE);
  }

  @Override
  public long receiveRingAddress() {
    return receives == null ? NO_RECEIVES : receives.address();
  }

  @Override
  Completions completions(int number) {
    return new FrontCompletions() {
      @Override
      void requested(int index, int syndrome) {
        finish(number, index, syndrome == 0 ? CompletionEntry.OK : status(syndrome));
      }
    };
  }

  @Override
  @Nullable Completions receiveCompletions() {
    return receiveQueue == null
        ? null
        : new FrontCompletions() {
          @Override
          void received(int opcode, int receive, int syndrome, int bytes, int immediate) {
            EfaQueuePair.this.received(opcode, receive, syndrome, bytes, immediate);
          }
        };
  }

  @Override
  public @Nullable ReceiveSource receives(QueuePairContext connection) {
    return receives == null ? null : receives.source(connection);
  }

  @Override
  void register(int offset, long value) {
    if (offset == SEND_DOORBELL) {
      synchronized (this) {
        int count = (int) value & MASK;
        tooMany |= ((count - rung) & MASK) > Math.min(MAX_BATCH, entries - 1);
        rung = count;
      }
    } else if (offset == RECEIVE_DOORBELL && receives != null) {
      receives.ring((int) value);
    }
  }

  @Override
  void restart() {
    synchronized (this) {
      rung = 0;
      tooMany = false;
    }
    overrun = false;
    producer = 0;
    decoded = 0;
    outstanding = 0;
    current = null;
    window.clear();
    blocked = false;
    failing = false;
    completed = EfaView.COUNTER_START;
    failed = 0;
    earlier.clear();
    shadow.fill((byte) 0xff);
    if (receives != null) {
      receives.restart();
    }
  }

  @Override
  public void onError() {
    failing = true;
    first().activate();
  }

  @Override
  public int run() {
    int due;
    boolean ends;
    synchronized (this) {
      due = rung;
      ends = tooMany;
    }
    if (!overrun) {
      producer += (due - (int) producer) & MASK;
      if (ends) {
        // The count says nothing any more: what is posted is flushed, and one request behind it.
        producer = Math.min(producer, decoded + Math.max(0, entries - outstanding));
        overrun = true;
        failing = true;
      }
    }
    first().requests.begin();
    if (failing) {
      return flush();
    }
    if (first().state() != QueuePairState.RTS) {
      return 0;
    }
    blocked = false;
    fill();
    if (window.isEmpty()) {
      return 0;
    }
    int leave = window.size() - HcaServices.choose(port, random, window.size() + 1);
    if (leave > 0) {
      idle = 0;
    } else if (++idle > MOST_IDLE) {
      leave = 1;
    }
    int work = 0;
    while (work < leave && !window.isEmpty()) {
      if (!leaves(HcaServices.choose(port, random, window.size()))) {
        blocked = true;
        return work;
      }
      work++;
      fill();
    }
    if (!window.isEmpty()) {
      first().activate();
    }
    return work;
  }

  /** Fills the window with packets of the oldest messages. */
  private void fill() {
    while (window.size() < WINDOW && !failing) {
      Message message = current;
      if (message == null) {
        if (decoded == producer || (waits && outstanding > 0)) {
          return;
        }
        begin();
        continue;
      }
      int bytes =
          isCut(message) ? Math.min(first().mtu(), message.length - message.made) : message.length;
      window.add(new Piece(message, message.made, bytes));
      message.made += bytes;
      if (message.made >= message.length) {
        current = null;
      }
    }
  }

  /** Packets of a WRITE travel apart: it tells its receiver nothing. */
  private static boolean isCut(Message message) {
    return message.operation == TxWqe.RDMA_WRITE
        && !TxWqe.hasImmediate(message.slot)
        && !TxWqe.isInline(message.slot);
  }

  /** Takes the next work request. */
  private void begin() {
    Message message = messages[(int) (decoded & (entries - 1))];
    long wqe = message.slot;
    int phase = (int) (decoded / entries & 1);
    decoded++;
    outstanding++;
    message.id = TxWqe.requestId(wqe);
    message.operation = TxWqe.operation(wqe);
    message.made = 0;
    message.known.clear();
    message.wantsCompletion = TxWqe.wantsCompletion(wqe);
    message.status = refusal(message, phase);
    if (message.status != CompletionEntry.OK) {
      message.wantsCompletion = true;
      complete(message);
      return;
    }
    message.length = length(wqe);
    message.remaining =
        isCut(message) ? Math.max(1, (message.length + first().mtu() - 1) / first().mtu()) : 1;
    if (waits) {
      for (int i = 0; i < CONNECTIONS; i++) {
        for (Object one : earlier) {
          connection(i).requests.acknowledged(one);
        }
        connection(i).requests.fenced();
      }
      earlier.clear();
    }
    current = message;
  }

  private int refusal(Message message, int phase) {
    long wqe = message.slot;
    if (!TxWqe.isWhole(wqe) || TxWqe.phase(wqe) != phase) {
      return CompletionEntry.INTERNAL_ERROR;
    }
    if (message.operation > TxWqe.RDMA_WRITE
        || (message.operation == TxWqe.RDMA_READ && TxWqe.isInline(wqe))) {
      return CompletionEntry.UNSUPPORTED_OPERATION;
    }
    if (TxWqe.addressHandle(wqe) != 0) {
      return CompletionEntry.INVALID_ADDRESS_HANDLE;
    }
    if (TxWqe.destination(wqe) != peer) {
      return CompletionEntry.REMOTE_BAD_QP_NUMBER;
    }
    boolean inline = TxWqe.isInline(wqe);
    boolean send = message.operation == TxWqe.SEND;
    int most = inline ? TxWqe.MAX_INLINE : send ? 2 : 1;
    if (TxWqe.length(wqe) > most
        || (!send && length(wqe) != TxWqe.remoteLength(wqe))
        || length(wqe) < 0
        || (send && length(wqe) > first().mtu())) {
      return CompletionEntry.BAD_LENGTH;
    }
    return CompletionEntry.OK;
  }

  /** Bytes of a message. */
  private static int length(long wqe) {
    int count = TxWqe.length(wqe);
    if (TxWqe.isInline(wqe)) {
      return count;
    }
    int sum = 0;
    for (int i = 0; i < count; i++) {
      sum += TxBuffer.length(TxWqe.buffer(wqe, i));
    }
    return sum;
  }

  /** Hands a packet of the window to a connection; false when none has room. */
  private boolean leaves(int which) {
    Piece piece = window.get(which);
    Message message = piece.message;
    long wqe = message.slot;
    int units = encode(piece);
    int blocks = SendQueue.blocks(units);
    int start = HcaServices.choose(port, random, CONNECTIONS);
    for (int i = 0; i < CONNECTIONS; i++) {
      int number = (start + i) % CONNECTIONS;
      SoftQueuePair to = connection(number);
      if (to.wqes().room() >= blocks) {
        long index = to.wqes().next();
        ControlSegment.write(
            image.address(),
            0,
            (int) index,
            opcode(message),
            to.number,
            units,
            ControlSegment.CQ_UPDATE,
            TxWqe.immediate(wqe));
        to.wqes().append(image.address(), units);
        owners[number][(int) index & (BLOCKS - 1)] = message;
        window.remove(which);
        to.activate();
        return true;
      }
    }
    return false;
  }

  private static int opcode(Message message) {
    boolean immediate = TxWqe.hasImmediate(message.slot);
    return switch (message.operation) {
      case TxWqe.RDMA_READ -> Opcode.RDMA_READ;
      case TxWqe.RDMA_WRITE -> immediate ? Opcode.RDMA_WRITE_IMM : Opcode.RDMA_WRITE;
      default -> immediate ? Opcode.SEND_IMM : Opcode.SEND;
    };
  }

  /** Puts the segments of a request behind its control segment; returns its units. */
  private int encode(Piece piece) {
    long wqe = piece.message.slot;
    long at = image.address() + ControlSegment.BYTES;
    if (piece.message.operation != TxWqe.SEND) {
      RemoteAddressSegment.write(at, TxWqe.remoteAddress(wqe) + piece.offset, TxWqe.remoteKey(wqe));
      at += RemoteAddressSegment.BYTES;
    }
    if (TxWqe.isInline(wqe)) {
      InlineSegment.write(at, TxWqe.inlineData(wqe), piece.bytes);
      at += InlineSegment.bytes(piece.bytes);
    } else if (isCut(piece.message)) {
      long buffer = TxWqe.buffer(wqe, 0);
      DataSegment.write(
          at, piece.bytes, TxBuffer.localKey(buffer), TxBuffer.address(buffer) + piece.offset);
      at += piece.bytes == 0 ? 0 : DataSegment.BYTES;
    } else {
      for (int i = 0; i < TxWqe.length(wqe); i++) {
        long buffer = TxWqe.buffer(wqe, i);
        if (TxBuffer.length(buffer) > 0) {
          DataSegment.write(
              at, TxBuffer.length(buffer), TxBuffer.localKey(buffer), TxBuffer.address(buffer));
          at += DataSegment.BYTES;
        }
      }
    }
    return (int) (at - image.address()) / SendQueue.UNIT;
  }

  /** A packet of a message is acknowledged, or has failed. */
  private void finish(int number, int index, int status) {
    Message message = owners[number][index & (BLOCKS - 1)];
    SoftQueuePair by = connection(number);
    if (message.status == CompletionEntry.OK || message.status == CompletionEntry.FLUSHED) {
      message.status = status == CompletionEntry.OK ? message.status : status;
    }
    message.remaining--;
    if (message.remaining > 0 || waits) {
      Object stands = by.requests.finishes(index + 1L);
      if (stands != null) {
        message.known.add(stands);
        if (waits) {
          earlier.add(stands);
        }
      }
    }
    if (message.remaining == 0) {
      for (Object one : message.known) {
        by.requests.acknowledged(one);
      }
      complete(message);
    }
    if (blocked || waits) {
      first().activate();
    }
  }

  private void complete(Message message) {
    outstanding--;
    boolean good = message.status == CompletionEntry.OK;
    if (message.wantsCompletion || !good) {
      CompletionEntry.writeRequest(
          sends.staging(), message.id, message.status, message.operation, number(), sends.phase());
      sends.post();
    }
    if (good) {
      completed = completed == EfaView.COUNTER_MAX ? 0 : completed + 1;
      count(completed, COMPLETED_OFFSET);
    } else {
      failed = failed == EfaView.COUNTER_MAX ? 0 : failed + 1;
      count(failed, FAILED_OFFSET);
      if (message.status != CompletionEntry.FLUSHED) {
        failing = true;
        first().activate();
      }
    }
  }

  private void count(long value, int offset) {
    long scratch = hca.scratch();
    RawMemory.putLong(scratch, value);
    port.write(scratch, words.address() + offset, Long.BYTES, false);
  }

  /** Puts all connections into error, and completes what no connection has. */
  private int flush() {
    fail();
    int work = 0;
    for (Piece piece : window) {
      work += drop(piece.message);
    }
    window.clear();
    Message open = current;
    if (open != null) {
      current = null;
      int mtu = first().mtu();
      for (int left = open.length - open.made; left > 0; left -= mtu) {
        work += drop(open);
      }
    }
    while (decoded < producer) {
      Message message = messages[(int) (decoded & (entries - 1))];
      boolean whole = TxWqe.isWhole(message.slot);
      boolean isPosted = whole && TxWqe.phase(message.slot) == (int) (decoded / entries & 1);
      decoded++;
      outstanding++;
      message.id = whole ? TxWqe.requestId(message.slot) : 0;
      message.operation = whole ? TxWqe.operation(message.slot) : TxWqe.SEND;
      message.status = CompletionEntry.FLUSHED;
      complete(message);
      work++;
      if (overrun && !isPosted) {
        producer = decoded;
      }
    }
    return work;
  }

  private int drop(Message message) {
    if (message.status == CompletionEntry.OK) {
      message.status = CompletionEntry.FLUSHED;
    }
    if (--message.remaining == 0) {
      complete(message);
    }
    return 1;
  }

  private void received(int opcode, int receive, int syndrome, int bytes, int immediate) {
    EfaCompletionQueue to = receiveQueue;
    if (to == null) {
      return;
    }
    CompletionEntry.writeReceive(
        to.staging(),
        receive,
        syndrome == 0 ? CompletionEntry.OK : status(syndrome),
        opcode == Cqe.RESPONDER_WRITE_IMM ? TxWqe.RDMA_WRITE : TxWqe.SEND,
        number(),
        to.phase(),
        bytes,
        peer,
        opcode == Cqe.RESPONDER_WRITE_IMM || opcode == Cqe.RESPONDER_SEND_IMM,
        immediate);
    to.post();
  }

  /** EFA's status for a syndrome of the connection. */
  private static int status(int syndrome) {
    return switch (syndrome) {
      case Syndrome.FLUSHED -> CompletionEntry.FLUSHED;
      case Syndrome.LOCAL_PROTECTION -> CompletionEntry.INVALID_LKEY;
      case Syndrome.LOCAL_LENGTH -> CompletionEntry.BAD_LENGTH;
      case Syndrome.REMOTE_ACCESS -> CompletionEntry.REMOTE_BAD_ADDRESS;
      case Syndrome.REMOTE_INVALID_REQUEST -> CompletionEntry.REMOTE_BAD_LENGTH;
      case Syndrome.REMOTE_OPERATION -> CompletionEntry.REMOTE_ABORT;
      case Syndrome.RNR_RETRY_EXCEEDED -> CompletionEntry.REMOTE_NOT_READY;
      case Syndrome.TRANSPORT_RETRY_EXCEEDED -> CompletionEntry.UNRESPONSIVE_REMOTE;
      default -> CompletionEntry.INTERNAL_ERROR;
    };
  }

  @Override
  void released() {
    sends.unuse();
    if (receiveQueue != null) {
      receiveQueue.unuse();
    }
    if (receives != null) {
      receives.close();
    }
  }
}
