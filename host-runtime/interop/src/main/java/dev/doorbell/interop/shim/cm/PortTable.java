package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.abi.ErrnoException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The ports of ids. Each port space has ports of its own, and so has AF_IB. */
final class PortTable {
  /** Ports that are given to who asks for none, as Linux has them. */
  private static final int FIRST_EPHEMERAL = 32_768;

  private static final int EPHEMERAL = 28_232;

  private record Key(boolean ib, int service) {
    static Key of(CmAddress address) {
      return new Key(address.isIb(), address.service());
    }
  }

  private final Map<Key, List<CmId>> owners = new HashMap<>();
  private final RandomGenerator random;

  PortTable(RandomGenerator random) {
    this.random = random;
  }

  /**
   * Gives an id its port; port 0 stands for a free one.
   *
   * @return the address with its port
   * @throws ErrnoException EADDRINUSE
   */
  CmAddress bind(CmId id, CmAddress address) throws ErrnoException {
    CmAddress bound = address.port() == 0 ? withFreePort(address) : address;
    List<CmId> present = owners.computeIfAbsent(Key.of(bound), _ -> new ArrayList<>());
    for (CmId other : present) {
      boolean shared = id.reuseAddress && other.reuseAddress && other.state != CmId.State.LISTENING;
      ErrnoException.require(shared || !meet(bound, other.source), Errno.EADDRINUSE);
    }
    present.add(id);
    return bound;
  }

  private CmAddress withFreePort(CmAddress address) throws ErrnoException {
    int first = random.nextInt(EPHEMERAL);
    for (int i = 0; i < EPHEMERAL; i++) {
      CmAddress candidate = address.withPort(FIRST_EPHEMERAL + (first + i) % EPHEMERAL);
      if (!owners.containsKey(Key.of(candidate))) {
        return candidate;
      }
    }
    throw new ErrnoException(Errno.EADDRNOTAVAIL);
  }

  private static boolean meet(CmAddress one, CmAddress other) {
    return one.isAny() || other.isAny() || one.gid().equals(other.gid());
  }

  /** Checks that no other id listens where this one is about to. */
  void requireAlone(CmId id) throws ErrnoException {
    for (CmId other : owners.getOrDefault(Key.of(id.source), List.of())) {
      ErrnoException.require(other == id || !meet(id.source, other.source), Errno.EADDRINUSE);
    }
  }

  void release(CmId id) {
    Key key = Key.of(id.source);
    List<CmId> present = owners.get(key);
    if (present != null && present.remove(id) && present.isEmpty()) {
      owners.remove(key);
    }
  }

  @Nullable CmId listener(CmAddress at) {
    Gid gid = at.gid();
    for (CmId id : owners.getOrDefault(Key.of(at), List.of())) {
      if (id.state == CmId.State.LISTENING && (id.source.isAny() || id.source.gid().equals(gid))) {
        return id;
      }
    }
    return null;
  }
}
