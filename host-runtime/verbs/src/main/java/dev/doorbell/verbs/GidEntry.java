package dev.doorbell.verbs;

import dev.doorbell.core.roce.Gid;
import java.util.ArrayList;
import java.util.List;

/**
 * An entry of a port's GID table.
 *
 * @param index its place
 * @param gid the identifier
 * @param type what it is spoken over
 */
record GidEntry(int index, Gid gid, Type type) {
  /** {@code enum ibv_gid_type}, in its order. */
  enum Type {
    INFINIBAND("InfiniBand"),
    ROCE_V1("RoCE v1"),
    ROCE_V2("RoCE v2");

    private final String words;

    Type(String words) {
      this.words = words;
    }
  }

  /**
   * An entry and why it was taken.
   *
   * @param reason for the first lines of a run
   */
  record Choice(GidEntry entry, String reason) {}

  /**
   * Chooses an entry: on InfiniBand the first; on Ethernet RoCE v2, because routers and congestion
   * control need its UDP header, and of those an IPv4 address before a routable IPv6 one before a
   * link-local one, because that is what switches of most sites are configured for.
   *
   * @param wanted an index that the user gave, or -1
   * @throws IllegalArgumentException when nothing fits; says what there is
   */
  static Choice choose(List<GidEntry> entries, boolean ethernet, int wanted) {
    if (wanted >= 0) {
      GidEntry entry =
          entries.stream()
              .filter(one -> one.index == wanted)
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "GID index %d is empty; there are %s".formatted(wanted, list(entries))));
      return new Choice(entry, "asked for");
    }
    if (!ethernet) {
      return entries.stream()
          .findFirst()
          .map(entry -> new Choice(entry, "the port's first"))
          .orElseThrow(() -> new IllegalArgumentException("the port has no GID"));
    }
    GidEntry best = null;
    for (GidEntry entry : entries) {
      if (entry.type == Type.ROCE_V2 && (best == null || entry.rank() < best.rank())) {
        best = entry;
      }
    }
    if (best == null) {
      throw new IllegalArgumentException(
          "the port has no RoCE v2 GID (%s); give its network interface an IP address and set it up, or name an index"
              .formatted(list(entries)));
    }
    return new Choice(
        best,
        switch (best.rank()) {
          case 0 -> "the first RoCE v2 entry with an IPv4 address";
          case 1 -> "the first RoCE v2 entry with a routable IPv6 address; none has an IPv4 one";
          default -> "the first RoCE v2 entry; it is link-local, so peers must be on the same link";
        });
  }

  private int rank() {
    if (gid.isIpv4()) {
      return 0;
    }
    return gid.isLinkLocal() ? 2 : 1;
  }

  private static String list(List<GidEntry> entries) {
    List<String> words = new ArrayList<>();
    entries.forEach(entry -> words.add(entry.toString()));
    return words.isEmpty() ? "none at all" : String.join(", ", words);
  }

  @Override
  public String toString() {
    return "%d: %s %s".formatted(index, type.words, gid);
  }
}
