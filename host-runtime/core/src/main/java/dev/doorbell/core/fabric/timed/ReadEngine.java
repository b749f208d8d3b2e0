package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort.AtomicFunction;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A device's reads and atomics: requests leave in order while tags last, behind the writes that
 * were handed in before them; completions come back cut as the completer cuts them.
 */
final class ReadEngine {
  private static final int PIECE = 4096;

  /** One read or atomic of the device. */
  private static final class Transfer {
    final Reach reach;
    final WriteQueue writes;
    final long after;
    final long address;
    final long target;
    final int bytes;
    final @Nullable AtomicFunction atomic;
    final Completion completion;
    int requested;
    int arrived;

    Transfer(
        Reach reach,
        WriteQueue writes,
        long address,
        long target,
        int bytes,
        @Nullable AtomicFunction atomic,
        Completion completion) {
      this.reach = reach;
      this.writes = writes;
      this.after = writes.added();
      this.address = address;
      this.target = target;
      this.bytes = bytes;
      this.atomic = atomic;
      this.completion = completion;
    }
  }

  /** Requests of one transfer that travel together: first to the completer, then back. */
  private final class Piece extends Event {
    private final Transfer transfer;
    private final int offset;
    private final int bytes;
    private final int requests;
    private boolean answered;

    Piece(Transfer transfer, int offset, int bytes, int requests) {
      this.transfer = transfer;
      this.offset = offset;
      this.bytes = bytes;
      this.requests = requests;
    }

    @Override
    void fire() {
      if (answered) {
        arrive(this);
      } else {
        fabric.completer(transfer.reach.back()).answer(this::answer);
      }
    }

    /** The completer puts the data on the links; returns when the next answer may follow. */
    private long answer(long now) {
      Transfer of = transfer;
      Reach reach = of.reach;
      long from = of.address + offset;
      AtomicFunction atomic = of.atomic;
      if (atomic != null) {
        if (fabric.memory().accessibleRange(from, bytes)) {
          apply(fabric, reach, from, bytes, of.target, atomic, now);
        }
      } else if (fabric.memory().accessibleRange(from, bytes)) {
        RawMemory.copy(from, of.target + offset, bytes);
      }
      int cut = reach.completionCut();
      int count = Tlp.completions(from, bytes, place.maxReadRequest, cut);
      Route back = reach.back();
      long arrival = back.completions(now, count, bytes, now);
      fabric.traceTransfer("CplD", back, from, bytes, now, arrival);
      answered = true;
      fabric.queue().schedule(this, arrival);
      return back.departed;
    }
  }

  /** The root complex says no: the requester learns of it after a round trip. */
  private final class Refusal extends Event {
    private final Completion completion;

    Refusal(Completion completion) {
      this.completion = completion;
    }

    @Override
    void fire() {
      device.finish(completion, false);
    }
  }

  private final TimedFabric fabric;
  private final Place place;
  private final TimedDevicePort device;
  private final ArrayDeque<Transfer> waiting = new ArrayDeque<>();
  private final int tags;
  private int outstanding;

  ReadEngine(TimedFabric fabric, Place place, TimedDevicePort device) {
    this.fabric = fabric;
    this.place = place;
    this.device = device;
    this.tags = place.readTags == 0 ? Integer.MAX_VALUE : place.readTags;
  }

  void read(
      Reach reach, WriteQueue writes, long address, long target, int bytes, Completion completion) {
    if (!reach.readableFrom(place)) {
      long trip = reach.out().latency + reach.back().latency;
      fabric.queue().schedule(new Refusal(completion), fabric.clock() + trip);
      return;
    }
    waiting.add(new Transfer(reach, writes, address, target, bytes, null, completion));
    pump();
  }

  void atomic(
      Reach reach,
      WriteQueue writes,
      long address,
      int bytes,
      long result,
      AtomicFunction atomic,
      Completion completion) {
    if (!reach.readableFrom(place)) {
      long trip = reach.out().latency + reach.back().latency;
      fabric.queue().schedule(new Refusal(completion), fabric.clock() + trip);
      return;
    }
    waiting.add(new Transfer(reach, writes, address, result, bytes, atomic, completion));
    pump();
  }

  /** Sends requests while there are tags and the writes before them have left. */
  void pump() {
    while (outstanding < tags) {
      Transfer transfer = waiting.peek();
      if (transfer == null || transfer.writes.sent() < transfer.after) {
        return;
      }
      send(transfer, tags - outstanding);
      if (transfer.requested == transfer.bytes) {
        waiting.remove();
      }
    }
  }

  private void send(Transfer transfer, int freeTags) {
    int most = Math.min(freeTags, Math.max(1, tags / 4));
    int offset = transfer.requested;
    int bytes = 0;
    int requests = 0;
    while (requests < most && offset + bytes < transfer.bytes) {
      int length =
          Tlp.requestLength(
              transfer.address + offset + bytes,
              transfer.bytes - offset - bytes,
              place.maxReadRequest);
      if (bytes > 0 && bytes + length > PIECE) {
        break;
      }
      bytes += length;
      requests++;
    }
    transfer.requested += bytes;
    outstanding += requests;
    fabric.readsOutstanding(outstanding);
    Piece piece = new Piece(transfer, offset, bytes, requests);
    long now = fabric.clock();
    Route out = transfer.reach.out();
    long arrival =
        transfer.atomic == null
            ? out.request(now, requests, now)
            : out.atomicRequest(now, bytes, now);
    fabric.traceTransfer("MRd", out, transfer.address + offset, bytes, now, arrival);
    fabric.queue().schedule(piece, arrival + transfer.reach.owner.service);
  }

  private void arrive(Piece piece) {
    outstanding -= piece.requests;
    Transfer transfer = piece.transfer;
    transfer.arrived += piece.bytes;
    if (transfer.arrived == transfer.bytes) {
      device.finish(transfer.completion, true);
    }
    pump();
  }

  /** Reads, modifies and writes a cell, and leaves its old value at {@code result}. */
  static void apply(
      TimedFabric fabric,
      Reach reach,
      long address,
      int bytes,
      long result,
      AtomicFunction atomic,
      long now) {
    long old = Cells.load(address, bytes);
    if (bytes == Integer.BYTES) {
      RawMemory.putInt(address, (int) atomic.apply(old));
      RawMemory.putInt(result, (int) old);
    } else {
      RawMemory.putLong(address, atomic.apply(old));
      RawMemory.putLong(result, old);
    }
    fabric.written(reach.owner, address, bytes, now);
  }
}
