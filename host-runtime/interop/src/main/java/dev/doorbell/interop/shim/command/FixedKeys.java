package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.generated.MemoryKeyContext;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.softhca.objects.SoftMemoryRegion;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Keys whose list has pieces of one size (KSM), each a key and an address. The pieces have to lie
 * one behind the other, in one region or in several that touch each other: then the key shows their
 * bytes at another address, with rights of its own. So UCX names memory in atomics and in ordered
 * writes, and memory that several threads have registered.
 */
final class FixedKeys {
  static final int LOG_MAX_ENTRIES = 16;

  private FixedKeys() {}

  /**
   * Creates a key. It ends with the first of the regions that it shows.
   *
   * @throws ErrnoException for pieces or regions that leave gaps, a key that names nothing, or a
   *     list that the command has no room for
   */
  static Resource.Mr create(
      ClientContext context, Resource.Pd pd, Set<AccessRight> rights, PrmBuffer in)
      throws ErrnoException {
    int entries = in.get(MemoryKeyContext.TRANSLATIONS);
    ErrnoException.require(
        entries > 0
            && entries <= 1 << LOG_MAX_ENTRIES
            && MemoryKeyContext.ENTRIES_OFFSET + entries * MemoryKeyContext.ENTRY_BYTES
                <= in.size(),
        Errno.EINVAL);
    long piece = 1L << in.get(MemoryKeyContext.LOG_ENTITY_SIZE);
    long first = address(in, 0);
    List<Resource.Mr> bases = new ArrayList<>();
    SoftMemoryRegion last = null;
    for (int i = 0; i < entries; i++) {
      int key = key(in, i);
      long at = first + i * piece;
      ErrnoException.require(address(in, i) == at, Errno.EOPNOTSUPP);
      if (last == null || last.lkey() != key) {
        Resource.Mr base = context.search(Resource.Mr.class, one -> one.region().lkey() == key);
        ErrnoException.require(
            last == null || continues(last, base.region(), at), Errno.EOPNOTSUPP);
        bases.add(base);
        last = base.region();
      }
    }
    SoftMemoryRegion begin = bases.getFirst().region();
    SoftMemoryRegion finish = bases.getLast().region();
    long from = Math.max(first, begin.address());
    long to = Math.min(first + in.getLong(MemoryKeyContext.LEN_OFFSET), end(finish));
    ErrnoException.require(from < to && from < end(begin), Errno.EINVAL);
    return Resource.Mr.show(
        pd.domain()
            .register(
                in.getLong(MemoryKeyContext.START_ADDR_OFFSET) + from - first,
                begin.memory(from),
                to - from,
                rights,
                in.get(MemoryKeyContext.MKEY_7_0)),
        bases);
  }

  private static long end(SoftMemoryRegion region) {
    return region.address() + region.length();
  }

  /** True if a region reaches an address where another one goes on, in the same memory. */
  private static boolean continues(SoftMemoryRegion before, SoftMemoryRegion next, long at) {
    return before.address() < at
        && end(before) >= at
        && next.address() <= at
        && end(next) > at
        && before.memory(at - 1) + 1 == next.memory(at);
  }

  private static int key(PrmBuffer in, int entry) {
    // Behind the byte count, which says nothing where all pieces have one size.
    return (int) in.getLong(at(entry));
  }

  private static long address(PrmBuffer in, int entry) {
    return in.getLong(at(entry) + MemoryKeyContext.ENTRY_ADDRESS_OFFSET);
  }

  private static int at(int entry) {
    return MemoryKeyContext.ENTRIES_OFFSET + entry * MemoryKeyContext.ENTRY_BYTES;
  }
}
