package dev.doorbell.softhca;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.DcTarget;
import dev.doorbell.core.hca.Hca;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.SharedReceiveQueue;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.softhca.objects.SoftCompletionQueue;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import dev.doorbell.softhca.objects.SoftMemoryWindow;
import dev.doorbell.softhca.objects.SoftSharedReceiveQueue;
import dev.doorbell.softhca.queuepair.SoftDcTarget;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import dev.doorbell.softhca.steering.FrameFields.FlowMatch;
import dev.doorbell.softhca.steering.ReceiveHash;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A kernel driver asks this of a software HCA, and the contract of {@code core.hca} has no need of:
 * memory by other addresses than its own, receive WQEs of any size, rings that are replaced, and
 * attributes of queue pairs one by one.
 */
public final class DriverAccess {
  /** {@link #register}: the HCA chooses. */
  public static final int ANY_VARIANT = SoftProtectionDomain.ANY_VARIANT;

  private DriverAccess() {}

  /**
   * Memory of queues whose driver fills completion rings itself before it creates them, as those of
   * a NIC have to: the HCA touches no entry that it does not write.
   */
  public interface FilledRings extends MemoryProvider {}

  /**
   * Registers memory that the fabric's devices reach at {@code memory}. Nobody checks that it is
   * there: accesses that fail make work requests fail.
   *
   * @param address by which work requests name the first byte
   * @param variant the lowest 8 bits of its key, or {@link #ANY_VARIANT}
   * @throws HcaException for rights that contradict each other, or when there are no keys left
   */
  public static MemoryRegion register(
      ProtectionDomain domain,
      long address,
      long memory,
      long length,
      Set<AccessRight> rights,
      int variant) {
    return soft(domain).register(address, memory, length, rights, variant);
  }

  /**
   * Acts as {@link #register}, in place of a region of any domain of the same HCA, which ends: its
   * key becomes the new one's.
   *
   * @throws HcaException for rights that contradict each other; the region is as it was then
   */
  public static MemoryRegion replace(
      MemoryRegion old,
      ProtectionDomain domain,
      long address,
      long memory,
      long length,
      Set<AccessRight> rights) {
    return soft(domain).replace(soft(SoftMemoryRegion.class, old), address, memory, length, rights);
  }

  /** Registers memory for all domains, from address 0 on, and returns its key. */
  public static int registerForAll(
      ProtectionDomain domain, long memory, long length, Set<AccessRight> rights) {
    SoftMemoryRegion region = soft(domain).register(0, memory, length, rights, ANY_VARIANT);
    region.isOpenToAll = true;
    return region.lkey();
  }

  /** Address of the byte of a region that work requests call {@code address}. */
  public static long place(MemoryRegion region, long address) {
    return soft(SoftMemoryRegion.class, region).memory(address);
  }

  /**
   * Creates a memory window, which work requests bind.
   *
   * @param second of type 2
   * @throws HcaException when there are no keys left
   */
  public static SoftMemoryWindow createWindow(ProtectionDomain domain, boolean second) {
    return soft(domain).createWindow(second);
  }

  /**
   * Creates a queue pair in state RESET.
   *
   * @param segments data segments of a receive WQE, a power of two; the receive entries of {@code
   *     attributes} are a multiple of it
   * @param memory asked for the send ring, the receive ring if there is one, and the record, in
   *     this order
   */
  public static QueuePair createQueuePair(
      ProtectionDomain domain,
      QueuePairAttributes attributes,
      int segments,
      MemoryProvider memory) {
    return soft(domain).createQueuePair(attributes, segments, memory);
  }

  /**
   * Lets a completion queue go on in another ring, as the MODIFY_CQ command does: the last entry of
   * the present ring is a RESIZE_CQ, and its unpolled CQEs are moved by whoever polls. The present
   * ring is closed.
   *
   * @param entries of {@code ring}, a power of two
   * @throws HcaException when the queue holds more than the new ring has room for
   */
  public static void resize(CompletionQueue queue, int entries, Memory ring) {
    soft(SoftCompletionQueue.class, queue).resize(entries, ring);
  }

  /**
   * Makes a shared receive queue one of an XRC domain: queue pairs of that domain with {@link
   * dev.doorbell.core.hca.Transport#XRC} take receives from it as requests name it.
   *
   * @param completions of its receives
   * @param xrcDomain a protection domain of the same HCA, in which nothing is registered
   */
  public static void extend(
      SharedReceiveQueue queue, CompletionQueue completions, ProtectionDomain xrcDomain) {
    soft(SoftSharedReceiveQueue.class, queue)
        .extend(soft(SoftCompletionQueue.class, completions), soft(xrcDomain));
  }

  /** Memory of the HCA's machine, for queues that no program has. */
  public static MemoryProvider memory(Hca hca) {
    return soft(SoftHca.class, hca).memory();
  }

  /** Returns the queue pair itself, for the attributes that the contract has no need of. */
  public static SoftQueuePair of(QueuePair queuePair) {
    return soft(SoftQueuePair.class, queuePair);
  }

  /** Names a target of dynamic connections for its user, as a queue pair is named. */
  public static void userIndex(DcTarget target, int userIndex) {
    soft(SoftDcTarget.class, target).userIndex = userIndex;
  }

  /** Names a shared receive queue for its user: CQEs of extended connections have its name. */
  public static void userIndex(SharedReceiveQueue queue, int userIndex) {
    soft(SoftSharedReceiveQueue.class, queue).userIndex = userIndex;
  }

  /**
   * Lets queue pairs of {@link dev.doorbell.core.hca.Transport#RAW_PACKET} receive the Ethernet
   * frames that match, each frame one of them. A frame goes to one rule: that of the lowest
   * priority number, the oldest one first; rules of the same priority for the same match all get
   * it.
   *
   * @param queuePairs of one HCA: one, or a power of two of them
   * @param hash chooses one of several
   * @return ends the rule
   * @throws HcaException on other transports
   */
  public static Runnable steer(
      List<QueuePair> queuePairs, @Nullable ReceiveHash hash, FlowMatch match, int priority) {
    return SoftQueuePair.steer(
        queuePairs.stream().map(DriverAccess::of).toList(), hash, match, priority);
  }

  private static SoftProtectionDomain soft(ProtectionDomain domain) {
    return soft(SoftProtectionDomain.class, domain);
  }

  private static <T> T soft(Class<T> type, Object object) {
    if (!type.isInstance(object)) {
      throw new IllegalArgumentException("not of a software HCA: " + object);
    }
    return type.cast(object);
  }
}
