package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.BlueFlame;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.ErrorCqe;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.queue.Abi;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.core.queue.generated.ErrorRecord;
import dev.doorbell.proxy.ProxyHandler.CommandResults;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Posts on one queue pair from the CPU, and learns what became of it, in the order that rdma-core
 * keeps (providers/mlx5/qp.c, {@code post_send_db}). WQE stores; the doorbell record with release
 * order; a fence; then either the 8-byte doorbell or, for a single WQE that fits, the whole WQE to
 * the BlueFlame register, its halves in turn.
 *
 * <p>Every WQE takes one block, so a ring of n blocks holds n of them. The last one of a command,
 * or of a {@link Chaining}, asks for a CQE, which ends everything up to it. After an error CQE the
 * queue pair is dead: what was posted behind the failed WQE has failed, and nothing more is posted.
 */
@SuppressWarnings("ReferenceEquality") // queues are told apart by identity
final class SendQueuePoster {
  enum Outcome {
    POSTED,
    /** No room; offer it again. */
    BUSY,
    /** It cannot be expressed as a WQE. */
    REFUSED,
    /** The queue pair had an error. */
    DEAD
  }

  private static final int CQES_PER_POLL = 64;

  private static final ValueLayout.OfLong LITTLE_ENDIAN =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  final SendQueueAccess queue;

  private final ProxyPrices prices;
  private final Chaining chaining;
  private final ProxyCounters counters;

  /** Keeps the native memory of {@link #wqe} and {@link #cqe} alive. */
  private final MemorySegment scratch = Arena.ofAuto().allocate(2L * SendQueue.BLOCK, 64);

  private final long wqe = scratch.address();
  private final long cqe = wqe + SendQueue.BLOCK;
  private final int blockMask;
  private final long[] tickets;
  private final boolean[] last;
  private final boolean[] signalled;
  private final CommandResults[] results;

  /** The next block to write, never wrapping; as are the two below. */
  private long next;

  private long rung;
  private long completed;

  /** CQEs that have been asked for and have not come. */
  private int cqesDue;

  /** Units of a WQE in the scratch whose stores wait for what comes behind it; 0: there is none. */
  private int held;

  /** WQEs written of a command that did not fit as a whole, and whose command it is. */
  private int written;

  private long halfTicket;
  private @Nullable CommandResults halfResults;

  private long blueFlames;

  private long consumerIndex;
  private boolean tailLoaded;

  /** CQEs found by a poll that the port has parked. */
  private int found;

  private boolean dead;

  SendQueuePoster(
      SendQueueAccess queue, ProxyPrices prices, Chaining chaining, ProxyCounters counters) {
    this.queue = queue;
    this.prices = prices;
    // A chain that fills the ring could not be waited for: nothing of it asks for a CQE yet.
    this.chaining =
        new Chaining(
            Math.min(chaining.most(), queue.blocks()),
            chaining.oneCompletion(),
            chaining.adaptive());
    this.counters = counters;
    this.blockMask = queue.blocks() - 1;
    this.tickets = new long[queue.blocks()];
    this.last = new boolean[queue.blocks()];
    this.signalled = new boolean[queue.blocks()];
    this.results = new CommandResults[queue.blocks()];
  }

  /**
   * Writes a command's WQEs, as far as there is room. One that met {@link Outcome#BUSY} is offered
   * again until it does not; until then, those of other queues are busy, too.
   */
  Outcome post(CommandEntry command, long ticket, CommandResults to, StoreList stores) {
    if (dead) {
      return Outcome.DEAD;
    }
    if (written != 0 && (halfTicket != ticket || halfResults != to)) {
      return Outcome.BUSY;
    }
    int count = WqeBuilder.wqes(command, queue.flushResults());
    if (count == 0) {
      return Outcome.REFUSED;
    }
    // WQEs of one command go together, and the last one's CQE stands for all; only in a ring that
    // is too small for that, one by one.
    boolean together = count <= queue.blocks();
    while (written < count) {
      if (!hasRoom(together ? count - written : 1)) {
        halfTicket = ticket;
        halfResults = to;
        return Outcome.BUSY;
      }
      storeHeld(false, stores);
      boolean isLast = written == count - 1;
      boolean asks = (isLast && !chaining.oneCompletion()) || !together;
      int slot = (int) next & blockMask;
      tickets[slot] = ticket;
      results[slot] = to;
      last[slot] = isLast;
      signalled[slot] = asks;
      cqesDue += asks ? 1 : 0;
      stores.spend(prices.postNanos());
      held = WqeBuilder.build(command, written, next, queue.number24(), asks, wqe);
      next++;
      counters.wqes++;
      if (!chaining.oneCompletion()) {
        storeHeld(false, stores);
      }
      if (next - rung >= chaining.most()) {
        ring(stores);
      }
      written++;
    }
    written = 0;
    return Outcome.POSTED;
  }

  private boolean hasRoom(int wqes) {
    // A ring of CQEs must have a free entry for each one due: not every HCA checks for overrun.
    return next - completed + wqes <= queue.blocks()
        && (queue.collapsed() || cqesDue < queue.completionEntries());
  }

  /**
   * Stores the WQE in the scratch, if its stores are still to come.
   *
   * @param asks whether it has to ask for a CQE, beyond what it does
   */
  private void storeHeld(boolean asks, StoreList stores) {
    if (held == 0) {
      return;
    }
    int slot = (int) (next - 1) & blockMask;
    if (asks && !signalled[slot]) {
      signalled[slot] = true;
      cqesDue++;
      long flags = wqe + ControlSegment.FM_CE_SE_OFFSET;
      RawMemory.putByte(flags, (byte) (RawMemory.getByte(flags) | ControlSegment.CQ_UPDATE));
    }
    long block = SendQueue.blockAddress(queue.ring(), queue.blocks(), next - 1);
    for (int unit = 0; unit < held; unit++) {
      storeUnit(block, unit, Access.WEAK, stores);
    }
    held = 0;
  }

  private void storeUnit(long block, int unit, int access, StoreList stores) {
    long offset = (long) unit << SendQueue.UNIT_SHIFT;
    long from = wqe + offset;
    stores.store128(
        block + offset, RawMemory.getLong(from), RawMemory.getLong(from + Long.BYTES), access);
  }

  void ring(StoreList stores) {
    if (next == rung) {
      return;
    }
    storeHeld(true, stores);
    stores.record(queue, next);
    if (next - rung == 1 && queue.blueFlameBytes() >= SendQueue.BLOCK) {
      // The scratch still holds that one WQE.
      long half =
          queue.doorbell()
              + BlueFlame.halfOffset(queue.blueFlameBytes(), blueFlames)
              - Doorbell.REGISTER_OFFSET;
      for (int unit = 0; unit < SendQueue.UNITS_PER_BLOCK; unit++) {
        storeUnit(half, unit, Access.RELAXED | Access.SYS, stores);
      }
      blueFlames++;
    } else {
      stores.store64(
          queue.doorbell(), Doorbell.encode(next, queue.number24()), Access.MMIO | Access.SYS);
    }
    stores.spend(prices.ringNanos());
    rung = next;
  }

  /** Looks at the completion queue; see {@link ProxyHandler#poll}. */
  int poll(ThreadPort port, StoreList stores) {
    while (found < CQES_PER_POLL && next != completed && !dead) {
      int entries = queue.collapsed() ? 1 : queue.completionEntries();
      long index = queue.collapsed() ? 0 : consumerIndex;
      long entry = Cqe.entryAddress(queue.completionRing(), entries, index);
      if (!tailLoaded) {
        long tail = port.load64(entry + Cqe.SOP_DROP_QPN_OFFSET, Access.ACQUIRE | Access.SYS);
        if (port.parked) {
          return ProxyHandler.PARKED;
        }
        RawMemory.putLong(cqe + Cqe.SOP_DROP_QPN_OFFSET, tail);
        if (!Cqe.isOwnedBySoftware(cqe, index, entries)) {
          break;
        }
      }
      if (Cqe.isError(Cqe.opcode(cqe))) {
        tailLoaded = true;
        long syndromes = port.load64(entry + Cqe.TIMESTAMP_OFFSET, Access.RELAXED | Access.SYS);
        if (port.parked) {
          return ProxyHandler.PARKED;
        }
        tailLoaded = false;
        RawMemory.putLong(cqe + Cqe.TIMESTAMP_OFFSET, syndromes);
        fail(port.now(), stores);
        found++;
        break;
      }
      long done = SendQueue.extend(completed, Cqe.wqeCounter(cqe)) + 1;
      if (queue.collapsed() && done <= completed) {
        break;
      }
      complete(done);
      consumerIndex++;
      found++;
    }
    if (found != 0 && queue.completionRecord() != 0) {
      stores.store32(
          queue.completionRecord(),
          DoorbellRecord.encodeConsumer(consumerIndex),
          Access.RELEASE | Access.SYS);
    }
    stores.spend(found * (prices.lineNanos() + prices.completionNanos()));
    int sum = found;
    found = 0;
    return sum;
  }

  /** WQEs below {@code done} have succeeded. */
  private void complete(long done) {
    if (done > next) {
      throw new IllegalStateException(
          "queue pair 0x%x: a CQE names WQE %d, and only those below %d are posted; is its completion queue shared, or was it reset without a new poster?"
              .formatted(queue.number24(), done - 1, next));
    }
    for (; completed < done; completed++) {
      end(false);
    }
  }

  private void end(boolean failed) {
    int slot = (int) completed & blockMask;
    cqesDue -= signalled[slot] ? 1 : 0;
    if (last[slot]) {
      results[slot].finished(tickets[slot], failed);
    }
  }

  /**
   * The error CQE in the scratch ends the queue pair. A flush error implies nothing about the WQEs
   * before it (in a collapsed queue it may have overwritten the error itself), any other error that
   * they are done.
   */
  private void fail(long nanos, StoreList stores) {
    int syndrome = ErrorCqe.syndrome(cqe);
    long index = SendQueue.extend(completed, ErrorCqe.wqeCounter(cqe));
    if (syndrome != Syndrome.FLUSHED && index > completed) {
      complete(Math.min(index, next));
    }
    report(
        Abi.ERROR_CQE,
        syndrome,
        ErrorCqe.vendorSyndrome(cqe),
        ErrorCqe.wqeCounter(cqe),
        ErrorCqe.wqeOpcode(cqe),
        tickets[(int) index & blockMask],
        nanos,
        stores);
    dead = true;
    for (; completed < next; completed++) {
      end(true);
    }
  }

  /** Writes the error record in which kernels learn why their waits end; its status word last. */
  void report(
      int status,
      int syndrome,
      int vendorSyndrome,
      int wqeIndex,
      int opcode,
      long ticket,
      long nanos,
      StoreList stores) {
    long record = queue.error();
    if (record == 0) {
      return;
    }
    byte[] bytes =
        new ErrorRecord(
                status,
                queue.number24(),
                syndrome,
                vendorSyndrome,
                wqeIndex,
                opcode,
                ErrorRecord.CPU,
                ticket,
                completed,
                nanos)
            .encode();
    MemorySegment record64 = MemorySegment.ofArray(bytes);
    long first = record64.get(LITTLE_ENDIAN, 0);
    for (int offset = Long.BYTES; offset < ErrorRecord.BYTES; offset += Long.BYTES) {
      stores.store64(
          record + offset, record64.get(LITTLE_ENDIAN, offset), Access.RELAXED | Access.SYS);
    }
    stores.store32(
        record + Integer.BYTES, (int) (first >>> Integer.SIZE), Access.RELAXED | Access.SYS);
    stores.store32(record, (int) first, Access.RELEASE | Access.SYS);
  }

  @Override
  public String toString() {
    return "queue pair 0x%x: %d posted, %d completed%s"
        .formatted(queue.number24(), next, completed, dead ? ", dead after an error" : "");
  }
}
