package dev.doorbell.softhca.objects;

import dev.doorbell.core.adapter.Promise;
import dev.doorbell.core.adapter.Promises;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.softhca.device.VendorSyndrome;
import dev.doorbell.softhca.objects.ObjectOwner.Owned;
import java.util.Set;

/**
 * A registered range of memory. One key serves as lkey and rkey.
 *
 * <p>Work requests name it by its own addresses, from {@link #address()} on; where its bytes are
 * may be elsewhere.
 */
public final class SoftMemoryRegion implements MemoryRegion, Owned {
  private final ObjectOwner domain;
  private final int key;
  private final long address;
  private final long length;
  private final long distance;
  private final int bits;

  /** Writes to it may pass one another on PCIe. */
  public final boolean relaxed;

  /** Writes to it come behind all that precede them. */
  public final boolean strict;

  private boolean closed;
  private boolean invalidated;

  /** Queue pairs of all domains may use it, none may invalidate it. */
  public boolean isOpenToAll;

  /**
   * @param address by which work requests name the first byte
   * @param memory where the first byte is
   * @param promises of the HCA
   */
  public SoftMemoryRegion(
      ObjectOwner domain,
      int key,
      long address,
      long memory,
      long length,
      Set<AccessRight> rights,
      Promises promises) {
    this.domain = domain;
    this.key = key;
    this.address = address;
    this.length = length;
    this.distance = memory - address;
    this.bits = Rights.bits(rights);
    this.strict =
        rights.contains(AccessRight.STRICT_ORDERING)
            && promises.strictKey() == Promise.StrictKey.AFTER_EARLIER_WRITES;
    this.relaxed =
        !strict
            && (rights.contains(AccessRight.RELAXED_ORDERING)
                || promises.posted() == Promise.Posted.RELAXED);
  }

  /**
   * Why a local access is refused, or {@link VendorSyndrome#NONE}.
   *
   * @param by the domain of the queue pair that asks
   * @param needed {@link Rights} bits
   */
  public int refusal(ObjectOwner by, long at, long bytes, int needed) {
    return check(isOpenToAll ? domain : by, at, bytes, needed);
  }

  /**
   * Why a peer's access is refused, or {@link VendorSyndrome#NONE}.
   *
   * @param by the queue pair at which the peer asks
   * @param needed {@link Rights} bits
   */
  public int remoteRefusal(QueuePairContext by, long at, long bytes, int needed) {
    return check(isOpenToAll && needed != 0 ? domain : by.domain, at, bytes, needed);
  }

  @SuppressWarnings("ReferenceEquality") // there is one object per domain
  private int check(ObjectOwner by, long at, long bytes, int needed) {
    if (invalidated) {
      return VendorSyndrome.UNKNOWN_KEY;
    }
    if (by != domain) {
      return VendorSyndrome.WRONG_DOMAIN;
    }
    long offset = at - address;
    // Unsigned: an address below the region is far above it.
    if (Long.compareUnsigned(offset, length) > 0 || bytes > length - offset) {
      return VendorSyndrome.OUT_OF_BOUNDS;
    }
    return (bits & needed) == needed ? VendorSyndrome.NONE : VendorSyndrome.MISSING_RIGHT;
  }

  /**
   * Ends the registration on behalf of a peer that was not {@linkplain #refusal refused}; the
   * region stays open for {@link #close}.
   */
  public void invalidate() {
    invalidated = true;
  }

  /** False once the registration has ended. */
  public boolean isLive() {
    return !closed && !invalidated;
  }

  /** Address of the byte that work requests call {@code at}. */
  public long memory(long at) {
    return at + distance;
  }

  public boolean covers(long from, long bytes) {
    long start = memory(address);
    return start < from + bytes && from < start + length;
  }

  @Override
  public int lkey() {
    return key;
  }

  @Override
  public int rkey() {
    return key;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      domain.closing(this);
    }
  }

  @Override
  public String toString() {
    return "memory region 0x%x (%d bytes at 0x%x)".formatted(key, length, address);
  }

  /** Access rights as bits, for checks on the data path. */
  public static final class Rights {
    public static final int LOCAL_WRITE = 1;
    public static final int REMOTE_WRITE = 2;
    public static final int REMOTE_READ = 4;
    public static final int REMOTE_ATOMIC = 8;

    private Rights() {}

    public static int bits(Set<AccessRight> rights) {
      int bits = 0;
      for (AccessRight right : rights) {
        bits |=
            switch (right) {
              case LOCAL_WRITE -> LOCAL_WRITE;
              case REMOTE_WRITE -> REMOTE_WRITE;
              case REMOTE_READ -> REMOTE_READ;
              case REMOTE_ATOMIC -> REMOTE_ATOMIC;
              case WINDOW_BIND, RELAXED_ORDERING, STRICT_ORDERING -> 0;
            };
      }
      return bits;
    }

    /** Refuses rights of a region that contradict each other. */
    public static void checkRegion(Set<AccessRight> rights) {
      boolean written =
          rights.contains(AccessRight.REMOTE_WRITE) || rights.contains(AccessRight.REMOTE_ATOMIC);
      if (written && !rights.contains(AccessRight.LOCAL_WRITE)) {
        throw new HcaException(
            "cannot register memory with %s: peers may only write where the local side may; add LOCAL_WRITE"
                .formatted(rights),
            Errno.EINVAL);
      }
    }
  }
}
