package dev.doorbell.core.pcap;

/** First headers of the frames of an interface: the registry of link types of tcpdump.org. */
public final class LinkType {
  /** An Ethernet header. */
  public static final int ETHERNET = 1;

  /** An IPv4 or IPv6 header. */
  public static final int RAW_IP = 101;

  private LinkType() {}
}
