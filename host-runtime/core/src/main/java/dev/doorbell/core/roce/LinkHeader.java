package dev.doorbell.core.roce;

/** Headers that captures have before Ethernet's or IP's: the link types of tcpdump.org. */
public enum LinkHeader {
  ETHERNET(1, "Ethernet", 0, 0),
  RAW_IP(101, "IP", 0, 0),
  /** A word with the address family, then IP. */
  LOOPBACK(0, "BSD loopback", 4, 0),
  /** Linux's {@code -i any}: the EtherType at the end of 16 bytes. */
  COOKED(113, "Linux cooked", 16, 14),
  /** Linux's {@code -i any} from tcpdump 4.99 on: the EtherType at the start of 20 bytes. */
  COOKED_2(276, "Linux cooked v2", 20, 0),
  UNREAD(-1, "", 0, 0);

  /** Link types of IP that other systems number. */
  private static final int RAW_BSD = 12;

  private static final int RAW_OPENBSD = 14;
  private static final int IPV4 = 228;
  private static final int IPV6 = 229;
  private static final int INFINIBAND = 247;

  private static final LinkHeader[] ALL = values();

  final int bytes;
  final int typeOffset;
  private final int linkType;
  private final String title;

  LinkHeader(int linkType, String title, int bytes, int typeOffset) {
    this.linkType = linkType;
    this.title = title;
    this.bytes = bytes;
    this.typeOffset = typeOffset;
  }

  static LinkHeader of(int linkType) {
    if (linkType == RAW_BSD || linkType == RAW_OPENBSD || linkType == IPV4 || linkType == IPV6) {
      return RAW_IP;
    }
    for (LinkHeader header : ALL) {
      if (header.linkType == linkType) {
        return header;
      }
    }
    return UNREAD;
  }

  public static boolean isRead(int linkType) {
    return of(linkType) != UNREAD;
  }

  public static String name(int linkType) {
    LinkHeader header = of(linkType);
    if (header != UNREAD) {
      return header.title;
    }
    return linkType == INFINIBAND
        ? "InfiniBand (link type 247)"
        : "link type %d".formatted(linkType);
  }
}
