package dev.doorbell.interop.shim;

import dev.doorbell.core.hca.CompletionChannel;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.interop.shim.ClientProcess.Lease;
import org.jspecify.annotations.Nullable;

/** What a program made and has a handle of. Objects of a context end in the order of the types. */
abstract sealed class Resource {
  /** What DEVX objects have instead of a handle of the program's. */
  static final long DEVX = -1;

  /** Ends it; throws {@code HcaException} while others need it. */
  abstract void close();

  /** What asynchronous events may happen to. */
  abstract static sealed class Queue extends Resource permits Qp, Srq, Cq {
    final long userHandle;
    int asyncEvents;

    Queue(long userHandle) {
      this.userHandle = userHandle;
    }

    /** Made by a DEVX command: its events are no business of the verbs. */
    boolean isDevx() {
      return userHandle == DEVX;
    }
  }

  /** A queue pair and the memory of its queues. */
  static final class Qp extends Queue {
    final QueuePair queuePair;
    final QpState state;
    final UarPage uar;
    private final Lease[] leases;

    /** The producer index that the HCA was told last; none at first. */
    int rung = -1;

    Qp(QueuePair queuePair, QpState state, UarPage uar, long userHandle, Lease... leases) {
      super(userHandle);
      this.queuePair = queuePair;
      this.state = state;
      this.uar = uar;
      this.leases = leases;
      uar.users.add(this);
    }

    @Override
    void close() {
      queuePair.close();
      uar.users.remove(this);
      for (Lease lease : leases) {
        lease.close();
      }
    }
  }

  /** A shared receive queue. */
  static final class Srq extends Queue {
    final SharedReceiveQueue queue;
    final int entries;
    private final Lease[] leases;
    int limit;

    Srq(SharedReceiveQueue queue, long userHandle, int entries, Lease... leases) {
      super(userHandle);
      this.queue = queue;
      this.entries = entries;
      this.leases = leases;
    }

    @Override
    void close() {
      queue.close();
      for (Lease lease : leases) {
        lease.close();
      }
    }
  }

  /** A completion queue. */
  static final class Cq extends Queue {
    final CompletionQueue queue;
    final @Nullable Channel channel;
    private Lease ring;
    private final Lease record;

    /** Arm word of the doorbell record as it was looked at last. */
    int armed;

    int completionEvents;

    Cq(
        CompletionQueue queue,
        long userHandle,
        @Nullable Channel channel,
        Lease ring,
        Lease record) {
      super(userHandle);
      this.queue = queue;
      this.channel = channel;
      this.ring = ring;
      this.record = record;
      if (channel != null) {
        channel.users++;
      }
    }

    /** Its ring is another one now. */
    void replaceRing(Lease by) {
      ring.close();
      ring = by;
    }

    @Override
    void close() {
      queue.close();
      if (channel != null) {
        channel.users--;
      }
      ring.close();
      record.close();
    }
  }

  /** A memory region. */
  static final class Mr extends Resource {
    final MemoryRegion region;
    private final @Nullable Chip chip;

    Mr(MemoryRegion region) {
      this(region, null);
    }

    /** Of on-chip memory. */
    Mr(MemoryRegion region, @Nullable Chip chip) {
      this.region = region;
      this.chip = chip;
      if (chip != null) {
        chip.regions++;
      }
    }

    @Override
    void close() {
      region.close();
      if (chip != null) {
        chip.regions--;
      }
    }
  }

  /** A piece of on-chip memory. */
  static final class Chip extends Resource {
    final Lease lease;
    final int page;
    private final ChipMemory of;
    private int regions;

    Chip(ChipMemory of, int page, Lease lease) {
      this.of = of;
      this.page = page;
      this.lease = lease;
    }

    @Override
    void close() {
      if (regions > 0) {
        throw new HcaException(
            "on-chip memory: %d region(s) are still registered on it".formatted(regions),
            Errno.EBUSY);
      }
      lease.close();
      of.give(page, lease.bytes());
    }
  }

  /** An address handle; the program writes it into WQEs itself. */
  static final class Ah extends Resource {
    @Override
    void close() {}
  }

  /** Memory that DEVX commands place queues in. */
  static final class Umem extends Resource {
    final int id;
    final long start;
    final long bytes;

    Umem(int id, long start, long bytes) {
      this.id = id;
      this.start = start;
      this.bytes = bytes;
    }

    @Override
    void close() {}
  }

  /** A protection domain. */
  static final class Pd extends Resource {
    final ProtectionDomain domain;
    final int number;

    Pd(ProtectionDomain domain, int number) {
      this.domain = domain;
      this.number = number;
    }

    @Override
    void close() {
      domain.close();
    }
  }

  /** A doorbell page. */
  static final class Uar extends Resource {
    final UarPage page;

    Uar(UarPage page) {
      this.page = page;
    }

    @Override
    void close() {
      page.close();
    }
  }

  /** Whose events go where. */
  static final class Channel {
    final EventQueue events;
    final CompletionChannel channel;
    int users;

    Channel(EventQueue events, CompletionChannel channel) {
      this.events = events;
      this.channel = channel;
    }
  }
}
