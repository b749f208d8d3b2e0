package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.explore.Slot.Arrivals;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.core.fabric.explore.model.MemoryMachine;
import dev.doorbell.core.fabric.explore.model.Region;
import dev.doorbell.core.fabric.explore.model.Release;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.SendQueue;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Checks what doorbells and doorbell records promise to an HCA, checked when they are given: it
 * need not happen to look at the wrong moment for a broken promise to be found.
 */
final class RecordChecks {
  private final MemoryMachine machine;
  private final List<Region> regions;
  private final FindingLog log;
  private final Function<Region, @Nullable Actor> senders;

  /**
   * Checks over {@code regions}, which may grow.
   *
   * @param senders who carries out the requests of a region's queue pair
   */
  RecordChecks(
      MemoryMachine machine,
      List<Region> regions,
      FindingLog log,
      Function<Region, @Nullable Actor> senders) {
    this.machine = machine;
    this.regions = regions;
    this.log = log;
    this.senders = senders;
  }

  /** A doorbell must not be ahead of what the device may still find in the record. */
  void doorbellArrives(Actor device, Arrivals.Arrival arrival, long registerBytes) {
    if (arrival.bytes != Doorbell.BYTES) {
      return;
    }
    long value = Doorbell.read(registerBytes);
    int number = Doorbell.qpn(value);
    for (Region region : regions) {
      if (region.role() == Region.Role.SEND_RECORD
          && region.recordFirst()
          && region.queuePair() == number
          && device.equals(senders.apply(region))) {
        int record =
            DoorbellRecord.decode((int) machine.oldest(device, region.address(), Integer.BYTES));
        int behind = SendQueue.distance(record, Doorbell.index(value));
        Conflict.Event store = lastStore(region.address());
        if (behind != 0 && behind < 1 << 15 && store != null) {
          report(
              Conflict.Kind.RECORD_BEHIND_DOORBELL,
              region,
              device,
              store,
              new Conflict.Event(arrival.actor, true, arrival.access, arrival.at),
              "doorbell %d of queue pair 0x%x, while the record may still say %d"
                  .formatted(Doorbell.index(value), number, record));
        }
        return;
      }
    }
  }

  /**
   * A doorbell record was stored. An HCA that has lost count looks at it whenever it likes, so the
   * store has to hand on the WQEs that it announces.
   */
  void recordStored(Region record, Write write, long before) {
    if (!record.announces()) {
      return;
    }
    int shift = (int) (record.address() & (Long.BYTES - 1)) * Byte.SIZE;
    int old = DoorbellRecord.decode((int) (before >>> shift));
    int now = DoorbellRecord.decode((int) (write.value >>> shift));
    Actor device = senders.apply(record);
    int back = SendQueue.distance(now, old);
    if (device != null && write.before != null && back != 0 && back < 1 << 15) {
      report(
          Conflict.Kind.RECORD_GOES_BACK,
          record,
          device,
          event(write.before),
          event(write),
          "record %d of queue pair 0x%x, which said %d before"
              .formatted(now, record.queuePair(), old));
      return;
    }
    for (Region ring : regions) {
      if (device == null
          || ring.role() != Region.Role.SEND_RING
          || ring.queuePair() != record.queuePair()
          || ring.device() != record.device()) {
        continue;
      }
      int blocks = (int) (ring.bytes() / SendQueue.BLOCK);
      int announced = SendQueue.distance(old, now);
      for (int i = 0; i < announced && announced <= blocks; i++) {
        long slot = SendQueue.slot(old + i, blocks);
        Write hidden =
            unannounced(device, write, ring.address() + slot * SendQueue.BLOCK, SendQueue.BLOCK);
        if (hidden != null) {
          report(
              Conflict.Kind.RECORD_BEFORE_WQE,
              record,
              device,
              event(hidden),
              event(write),
              "nothing yet; a look at the record, %d, leads it to WQE %d of queue pair 0x%x"
                  .formatted(now, (old + i) & SendQueue.INDEX_MASK, record.queuePair()));
          return;
        }
      }
    }
  }

  /**
   * The first word of a range whose newest store {@code device} would not know of if it took what
   * {@code announcement} hands on; null when there is none.
   */
  private @Nullable Write unannounced(Actor device, Write announcement, long address, long bytes) {
    for (long at = address; at < address + bytes; at += Long.BYTES) {
      Cell cell = machine.find(at);
      Write write = cell == null ? null : cell.newest;
      if (cell != null && write != null && !device.knows(write)) {
        boolean handedOn = false;
        Release[] releases = announcement.releases;
        for (int i = 0; releases != null && i < releases.length && !handedOn; i++) {
          handedOn =
              (releases[i].clock.covers(write.actor.number, write.epoch)
                      || releases[i].clock.seen(at) >= write.order)
                  && device.mayTake(releases[i], cell.onGpu);
        }
        if (!handedOn) {
          return write;
        }
      }
    }
    return null;
  }

  private Conflict.@Nullable Event lastStore(long address) {
    Cell cell = machine.find(address & -Long.BYTES);
    Write write = cell == null ? null : cell.newest;
    return write == null ? null : event(write);
  }

  private static Conflict.Event event(Write write) {
    return new Conflict.Event(write.actor, true, write.access, write.at);
  }

  private void report(
      Conflict.Kind kind,
      Region record,
      Actor device,
      Conflict.Event earlier,
      Conflict.Event later,
      String saw) {
    int before = log.count();
    int scope = device.place().scopeWith(earlier.actor().place());
    log.found(new Conflict(kind, record.address(), Integer.BYTES, earlier, later, scope));
    log.note(before, saw);
  }
}
