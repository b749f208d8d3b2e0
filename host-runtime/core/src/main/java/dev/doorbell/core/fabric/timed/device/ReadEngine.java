package dev.doorbell.core.fabric.timed.device;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort.AtomicFunction;
import dev.doorbell.core.fabric.timed.event.Event;
import dev.doorbell.core.fabric.timed.event.EventQueue;
import dev.doorbell.core.fabric.timed.interconnect.AccessPath;
import dev.doorbell.core.fabric.timed.interconnect.Cells;
import dev.doorbell.core.fabric.timed.interconnect.Component;
import dev.doorbell.core.fabric.timed.interconnect.Interconnect;
import dev.doorbell.core.fabric.timed.link.Route;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Tlp;
import dev.doorbell.core.memory.RawMemory;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A device's reads and atomics: requests leave in order while tags are free, behind the writes that
 * were handed in before them; completions come back cut as the completer cuts them.
 */
final class ReadEngine extends Event {
  private static final int PIECE = 4096;

  /** One read or atomic of the device. */
  private static final class Transfer {
    final AccessPath path;
    final WriteQueue writes;
    final long after;
    final long address;
    final long target;
    final int bytes;
    final @Nullable AtomicFunction atomic;
    final Completion completion;

    /** When its first request may leave; negative while writes before it have not left. */
    long ready = -1;

    int requested;
    int arrived;

    Transfer(
        AccessPath path,
        WriteQueue writes,
        long address,
        long target,
        int bytes,
        @Nullable AtomicFunction atomic,
        Completion completion) {
      this.path = path;
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
  private final class Piece extends Event implements Route.Completer.Answer {
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
    protected void fire() {
      if (answered) {
        arrive(this);
      } else {
        transfer.path.back().completer.answer(this);
      }
    }

    /** The completer puts the data on the links; returns when the next answer may follow. */
    @Override
    public long send(long now) {
      Transfer of = transfer;
      AccessPath path = of.path;
      long from = of.address + offset;
      AtomicFunction atomic = of.atomic;
      boolean there = interconnect.memory().accessibleRange(from, bytes);
      if (there && atomic != null) {
        apply(interconnect, path, from, bytes, of.target, atomic, now);
      } else if (there) {
        RawMemory.copy(from, of.target + offset, bytes);
      }
      int count = Tlp.completions(from, bytes, maxReadRequest, path.completionCut());
      Route back = path.back();
      long arrival = back.completions(now, count, bytes, now);
      interconnect.traceTransfer("CplD", back, from, bytes, now, arrival);
      answered = true;
      queue.schedule(this, engine.stored(arrival, bytes, now));
      return back.departed();
    }
  }

  private final Interconnect interconnect;
  private final EventQueue queue;
  private final Component component;
  private final TimedDevicePort device;
  private final DmaEngine engine;
  private final ArrayDeque<Transfer> waiting = new ArrayDeque<>();
  private final int maxReadRequest;
  private final int tags;
  private int outstanding;

  ReadEngine(
      Interconnect interconnect,
      Component component,
      NicPrices prices,
      DmaEngine engine,
      TimedDevicePort device) {
    this.interconnect = interconnect;
    this.queue = interconnect.queue();
    this.component = component;
    this.device = device;
    this.engine = engine;
    this.maxReadRequest = prices.maxReadRequest();
    this.tags = prices.readTags() == 0 ? Integer.MAX_VALUE : prices.readTags();
  }

  /**
   * Reads {@code bytes}, or carries out {@code atomic} where it is not null.
   *
   * @param target where the bytes, or the atomic's old value, go
   */
  void read(
      AccessPath path,
      WriteQueue writes,
      long address,
      long target,
      int bytes,
      @Nullable AtomicFunction atomic,
      Completion completion) {
    if (!path.readableFrom(component)) {
      // The root complex refuses it; the refusal arrives after a round trip.
      device.finishAfter(path.out().latency + path.back().latency, completion, false);
      return;
    }
    Transfer transfer = new Transfer(path, writes, address, target, bytes, atomic, completion);
    if (writes.sent() >= transfer.after) {
      transfer.ready = engine.readReady(queue.clock());
    }
    waiting.add(transfer);
    pump();
  }

  /** The engine is free, or the first read in turn is ready. */
  @Override
  protected void fire() {
    pump();
  }

  /** Sends requests while the engine is free, there are tags, and writes before them have left. */
  void pump() {
    long now = queue.clock();
    while (outstanding < tags) {
      Transfer transfer = waiting.peek();
      if (transfer == null || transfer.writes.sent() < transfer.after) {
        return;
      }
      if (transfer.ready < 0) {
        transfer.ready = engine.readReady(now);
      }
      long start = Math.max(transfer.ready, engine.readFree());
      if (start > now) {
        if (!scheduled()) {
          queue.schedule(this, start);
        }
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
              transfer.address + offset + bytes, transfer.bytes - offset - bytes, maxReadRequest);
      if (bytes > 0 && bytes + length > PIECE) {
        break;
      }
      bytes += length;
      requests++;
    }
    transfer.requested += bytes;
    outstanding += requests;
    Piece piece = new Piece(transfer, offset, bytes, requests);
    long now = queue.clock();
    Route out = transfer.path.out();
    long arrival =
        transfer.atomic == null
            ? out.request(now, requests, now)
            : out.atomicRequest(now, bytes, now);
    interconnect.traceTransfer("MRd", out, transfer.address + offset, bytes, now, arrival);
    engine.issueRead(requests, transfer.address + offset, bytes, now);
    queue.schedule(piece, transfer.path.owner.served(transfer.address + offset, bytes, arrival));
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
      Interconnect interconnect,
      AccessPath path,
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
    interconnect.written(path.owner, address, bytes, now);
  }
}
