package dev.doorbell.doctor.facts;

import java.util.List;
import java.util.Optional;

/**
 * A port of an RDMA device.
 *
 * @param state such as {@code ACTIVE}, {@code DOWN}, {@code INIT}
 * @param linkLayer {@code Ethernet} or {@code InfiniBand}
 * @param gigabits rate as sysfs gives it, 0 where unknown
 * @param lid 0 while no subnet manager has given one
 * @param gids all that are set
 * @param netdev the Ethernet interface of the port; empty for InfiniBand
 * @param netdevMtu of that interface, bytes; 0 where unknown
 */
public record RdmaPort(
    int number,
    String state,
    String linkLayer,
    double gigabits,
    int lid,
    List<GidEntry> gids,
    Optional<String> netdev,
    int netdevMtu) {
  /**
   * An entry of a port's GID table.
   *
   * @param value as sysfs prints it, eight groups of four digits
   * @param type such as {@code RoCE v2}; {@code IB/RoCE v1} on InfiniBand and for version 1
   */
  public record GidEntry(int index, String value, String type) {
    private static final String MAPPED = "0000:0000:0000:0000:0000:ffff:";
    private static final String LINK_LOCAL = "fe80:";

    public boolean version2() {
      return type.equals("RoCE v2");
    }

    /** Returns true for an IPv4 address, mapped into IPv6. */
    public boolean ipv4() {
      return value.startsWith(MAPPED);
    }

    public boolean linkLocal() {
      return value.startsWith(LINK_LOCAL);
    }
  }

  /**
   * Bytes that the kernel subtracts from an interface's MTU for RoCE: GRH, UDP, BTH, the largest
   * header, ICRC.
   */
  private static final int ROCE_HEADERS = 40 + 8 + 12 + 4 + 28 + 4;

  private static final int SMALLEST = 256;
  private static final int LARGEST = 4096;

  public RdmaPort {
    gids = List.copyOf(gids);
  }

  /** Returns the GID that a library chooses by default: RoCE v2 over IPv4, then any other v2. */
  public Optional<GidEntry> defaultGid() {
    return gids.stream()
        .filter(gid -> gid.version2() && gid.ipv4())
        .findFirst()
        .or(() -> gids.stream().filter(gid -> gid.version2() && !gid.linkLocal()).findFirst());
  }

  public boolean active() {
    return state.equals("ACTIVE");
  }

  public boolean ethernet() {
    return linkLayer.equals("Ethernet");
  }

  /**
   * The RDMA MTU that follows from the interface's: the largest of 256 to 4096 that leaves room for
   * the headers, as the kernel's {@code iboe_get_mtu} computes it; 0 where it is unknown.
   */
  public int mtu() {
    if (!ethernet() || netdevMtu <= 0) {
      return 0;
    }
    int mtu = LARGEST;
    while (mtu > SMALLEST && mtu > netdevMtu - ROCE_HEADERS) {
      mtu /= 2;
    }
    return mtu;
  }
}
