package dev.doorbell.softhca.wire;

import dev.doorbell.core.hca.HcaException;
import dev.doorbell.core.roce.Gid;
import java.util.ArrayList;
import java.util.List;

/**
 * The GIDs of a port, in the order in which Linux fills it: the link-local one of the MAC address,
 * then its IP addresses; each first as version 1 and then as version 2.
 *
 * @param entries by index
 */
public record GidTable(List<Entry> entries) {
  /** A GID and how packets that come from it are framed. */
  public record Entry(Gid gid, RoceVersion version) {}

  public GidTable {
    entries = List.copyOf(entries);
  }

  /** The table of a port with this MAC address and these IP addresses. */
  public static GidTable of(long mac, List<Gid> addresses) {
    List<Entry> entries = new ArrayList<>();
    List<Gid> all = new ArrayList<>();
    all.add(Gid.linkLocal(mac));
    all.addAll(addresses);
    for (Gid gid : all) {
      entries.add(new Entry(gid, RoceVersion.V1));
      entries.add(new Entry(gid, RoceVersion.V2));
    }
    return new GidTable(entries);
  }

  /**
   * The entry at {@code index}.
   *
   * @throws HcaException when there is none
   */
  public Entry entry(int index) {
    if (index < 0 || index >= entries.size()) {
      throw new HcaException(
          "GID index %d: the table has %d entries: %s".formatted(index, entries.size(), entries));
    }
    return entries.get(index);
  }

  /** The index of a GID with a version, or -1. */
  public int indexOf(Gid gid, RoceVersion version) {
    return entries.indexOf(new Entry(gid, version));
  }

  /** True when one of the entries has this GID. */
  public boolean contains(long high, long low) {
    for (int i = 0; i < entries.size(); i++) {
      Gid gid = entries.get(i).gid();
      if (gid.high() == high && gid.low() == low) {
        return true;
      }
    }
    return false;
  }
}
