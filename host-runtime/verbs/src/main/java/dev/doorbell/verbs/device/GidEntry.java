package dev.doorbell.verbs.device;

import dev.doorbell.core.roce.Gid;
import java.util.ArrayList;
import java.util.List;

/**
 * An entry of a port's GID table.
 *
 * @param index position in the table
 * @param gid the identifier
 * @param type the protocol that packets with this GID use
 */
public record GidEntry(int index, Gid gid, Type type) {
  /** {@code enum ibv_gid_type}. */
  enum Type {
    INFINIBAND("InfiniBand"),
    ROCE_V1("RoCE v1"),
    ROCE_V2("RoCE v2");

    /** The type of a value of {@code enum ibv_gid_type}. */
    static Type of(int verbsType) {
      return switch (verbsType) {
        case 0 -> INFINIBAND;
        case 1 -> ROCE_V1;
        default -> ROCE_V2;
      };
    }

    private final String words;

    Type(String words) {
      this.words = words;
    }
  }

  /**
   * A chosen entry.
   *
   * @param reason why it was chosen, for the first lines of a run
   */
  public record Choice(GidEntry entry, String reason) {}

  /**
   * Chooses an entry. On InfiniBand it is the first one. On Ethernet it is one of RoCE v2, because
   * routers and congestion control need its UDP header; an IPv4 address precedes a routable IPv6
   * address, which precedes a link-local one, as most sites configure their switches.
   *
   * @param index an index that the user gave, or -1
   * @throws IllegalArgumentException if no entry fits, naming those that exist
   */
  static Choice choose(List<GidEntry> entries, boolean ethernet, int index) {
    if (index >= 0) {
      GidEntry entry =
          entries.stream()
              .filter(one -> one.index == index)
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "GID index %d is empty; there are %s".formatted(index, list(entries))));
      return new Choice(entry, "requested");
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
