package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.mlx5.prm.PrmBuffer;
import dev.doorbell.core.mlx5.prm.generated.MemoryKeyContext;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.object.ClientContext;
import dev.doorbell.interop.shim.object.Resource;
import dev.doorbell.softhca.DriverAccess;
import java.util.Set;

/**
 * Keys whose list has pieces of one size (KSM), each a key and an address. All pieces have to be
 * one region's, one behind the other: then the key shows that region at another address, with
 * rights of its own. So UCX names memory in atomics and in ordered writes.
 */
final class FixedKeys {
  static final int LOG_MAX_ENTRIES = 16;

  private FixedKeys() {}

  /**
   * Creates a key. It ends with the region that it shows.
   *
   * @throws ErrnoException for several regions, pieces that leave gaps, a key that names nothing,
   *     or a list that the command has no room for
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
    int key = key(in, 0);
    long first = address(in, 0);
    for (int i = 1; i < entries; i++) {
      ErrnoException.require(
          key(in, i) == key && address(in, i) == first + i * piece, Errno.EOPNOTSUPP);
    }
    Resource.Mr base = context.search(Resource.Mr.class, one -> one.region().lkey() == key);
    long start = in.getLong(MemoryKeyContext.START_ADDR_OFFSET);
    long end = first + in.getLong(MemoryKeyContext.LEN_OFFSET);
    long from = Math.max(first, base.region().address());
    long to = Math.min(end, base.region().address() + base.region().length());
    ErrnoException.require(from < to, Errno.EINVAL);
    return base.show(
        DriverAccess.register(
            pd.domain,
            start + from - first,
            DriverAccess.place(base.region(), from),
            to - from,
            rights,
            in.get(MemoryKeyContext.MKEY_7_0)));
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
