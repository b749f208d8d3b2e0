package dev.doorbell.interop.shim.object;

import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.client.GpuRange;
import dev.doorbell.interop.shim.client.Lease;
import dev.doorbell.softhca.SoftProtectionDomain;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An object of a program, named by a handle. */
public sealed interface Resource {
  /** The user handle of objects that DEVX commands have created. */
  long DEVX = -1;

  /** Closes it; throws {@code HcaException} while others use it. */
  default void close() {}

  /** An object with asynchronous events, whose queues lie in memory of the program. */
  abstract sealed class Queue implements Resource permits Qp, Dct, Srq, Cq {
    public final long userHandle;
    private Lease[] leases;

    int asyncEvents;

    Queue(long userHandle, Lease... leases) {
      this.userHandle = userHandle;
      this.leases = leases;
    }

    public abstract int number();

    abstract void closeQueue();

    /** Asynchronous events that verbs have reported for it. */
    public int asyncEvents() {
      return asyncEvents;
    }

    /** Created by a DEVX command: verbs report none of its events. */
    boolean isDevx() {
      return userHandle == DEVX;
    }

    @Override
    public final void close() {
      closeQueue();
      for (Lease lease : leases) {
        lease.close();
      }
    }

    /** Replaces the mapping of the ring, which is the first lease. */
    public void replaceRing(Lease by) {
      leases[0].close();
      leases[0] = by;
    }
  }

  final class Qp extends Queue {
    public final SoftQueuePair queuePair;
    public final QueuePairControl control;
    public final UarPage uar;

    /** log2 of the receive ring's entries, where DEVX has created it. */
    public int logReceives;

    /** The producer index of the last doorbell; -1 for none. */
    int doorbellIndex = -1;

    /** The producer index of receives when the queue pair was last seen in error; -1 for never. */
    int receiveIndex = -1;

    private final Set<Gid> groups = new HashSet<>();

    public Qp(
        SoftQueuePair queuePair,
        QueuePairControl control,
        UarPage uar,
        long userHandle,
        Lease... leases) {
      super(userHandle, leases);
      this.queuePair = queuePair;
      this.control = control;
      this.uar = uar;
      uar.users.add(this);
    }

    @Override
    public int number() {
      return queuePair.number();
    }

    /** After a reset, the producer indices start at 0 again. */
    public void onReset() {
      doorbellIndex = -1;
      receiveIndex = -1;
    }

    /**
     * Receives multicasts to a group.
     *
     * @throws HcaException EINVAL for anything but a datagram queue pair and a group
     */
    public void attach(Gid group) {
      queuePair.join(group);
      groups.add(group);
    }

    /** Ends an {@link #attach}; false if there was none. */
    public boolean detach(Gid group) {
      return groups.remove(group) && queuePair.leave(group);
    }

    /** The program has ended, and with it what uses the queue pair. */
    void release() {
      groups.clear();
    }

    @Override
    void closeQueue() {
      if (!groups.isEmpty()) {
        throw new HcaException(
            "queue pair 0x%x is still in %d group(s)".formatted(number(), groups.size()),
            Errno.EBUSY);
      }
      queuePair.close();
      uar.users.remove(this);
    }
  }

  /** A target of dynamic connections, which verbs call a queue pair. */
  final class Dct extends Queue {
    public final DcTargetControl control;

    public Dct(DcTargetControl control, long userHandle) {
      super(userHandle);
      this.control = control;
    }

    /** Its number at the HCA; 0 before it has one. */
    @Override
    public int number() {
      DcTarget target = control.target();
      return target == null ? 0 : target.number();
    }

    @Override
    void closeQueue() {
      control.close();
    }
  }

  final class Srq extends Queue {
    public final SoftSharedReceiveQueue queue;
    public final int entries;
    public int limit;

    public Srq(SoftSharedReceiveQueue queue, long userHandle, int entries, Lease... leases) {
      super(userHandle, leases);
      this.queue = queue;
      this.entries = entries;
    }

    @Override
    public int number() {
      return queue.number();
    }

    @Override
    void closeQueue() {
      queue.close();
    }
  }

  final class Cq extends Queue {
    public final SoftCompletionQueue queue;

    /** The stream from which the program reads its completion events. */
    public final @Nullable EventStream channel;

    /** The arm word of the doorbell record that was read last. */
    int armWord;

    int completionEvents;

    public Cq(
        SoftCompletionQueue queue,
        long userHandle,
        @Nullable EventStream channel,
        Lease... leases) {
      super(userHandle, leases);
      this.queue = queue;
      this.channel = channel;
    }

    @Override
    public int number() {
      return queue.number();
    }

    /** Completion events that its channel has received. */
    public int completionEvents() {
      return completionEvents;
    }

    @Override
    void closeQueue() {
      queue.close();
    }
  }

  /**
   * A registration of a program.
   *
   * @param start the program's address of the first byte
   * @param address by which work requests name it
   * @param access {@code IBV_ACCESS_*}
   */
  record Registration(Pd pd, long start, long bytes, long address, int access) {}

  /** A memory region, of on-chip memory where {@code chip} is given. */
  final class Mr implements Resource {
    private SoftMemoryRegion region;
    private final @Nullable OnChip chip;
    private @Nullable GpuRange gpu;
    private final Set<SoftMemoryRegion> shown = new HashSet<>();
    private List<Mr> bases = List.of();

    /** The registration by verbs of the program's own memory; null for none. */
    public @Nullable Registration registration;

    public Mr(SoftMemoryRegion region, @Nullable OnChip chip, @Nullable Registration registration) {
      this.region = region;
      this.chip = chip;
      this.registration = registration;
      if (chip != null) {
        chip.regions++;
      }
    }

    public SoftMemoryRegion region() {
      return region;
    }

    /** The region uses memory of a GPU, and closes it; null for none. */
    public Mr on(@Nullable GpuRange range) {
      gpu = range;
      return this;
    }

    /** A region that shows bytes of these ones, and ends with the first of them at the latest. */
    public static Mr show(SoftMemoryRegion as, List<Mr> bases) {
      Mr made = new Mr(as, null, null);
      made.bases = bases;
      bases.forEach(base -> base.shown.add(as));
      return made;
    }

    private void endShown() {
      shown.forEach(SoftMemoryRegion::close);
      shown.clear();
    }

    /** The registration has ended in favour of another one. */
    public void replace(SoftMemoryRegion by, Registration next, @Nullable GpuRange on) {
      endShown();
      GpuRange before = gpu;
      if (before != null) {
        before.close();
      }
      region = by;
      registration = next;
      gpu = on;
    }

    @Override
    public void close() {
      endShown();
      region.close();
      bases.forEach(base -> base.shown.remove(region));
      if (chip != null) {
        chip.regions--;
      }
      if (gpu != null) {
        gpu.close();
      }
    }
  }

  /** A piece of on-chip memory. */
  final class OnChip implements Resource {
    public final Lease lease;
    public final int page;

    /** Bytes that were asked for; the lease has whole granules. */
    public final long bytes;

    private final OnChipPages pages;
    private int regions;

    public OnChip(OnChipPages pages, int page, long bytes, Lease lease) {
      this.pages = pages;
      this.bytes = bytes;
      this.page = page;
      this.lease = lease;
    }

    @Override
    public void close() {
      if (regions > 0) {
        throw new HcaException(
            "on-chip memory: %d region(s) are still registered on it".formatted(regions),
            Errno.EBUSY);
      }
      lease.close();
      pages.free(page, lease.bytes());
    }
  }

  /** An address handle; the program writes it into WQEs itself. */
  final class Ah implements Resource {}

  /**
   * Memory in which DEVX commands place queues.
   *
   * @param gpu the GPU's memory that it is, or null: memory of the host
   */
  record Umem(int id, long start, long bytes, @Nullable GpuRange gpu) implements Resource {
    /** True for memory of a GPU that has all these bytes. */
    boolean isOnGpu(long address, long length) {
      return gpu != null && address >= start && address - start <= bytes - length;
    }

    @Override
    public void close() {
      if (gpu != null) {
        gpu.close();
      }
    }
  }

  record Pd(SoftProtectionDomain domain, int number) implements Resource {
    @Override
    public void close() {
      domain.close();
    }
  }

  record Uar(UarPage page) implements Resource {
    @Override
    public void close() {
      page.close();
    }
  }
}
