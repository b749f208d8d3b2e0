package dev.doorbell.doctor.facts;

/**
 * An entry of a port's GID table.
 *
 * @param value as sysfs prints it, eight groups of four digits
 * @param type such as {@code RoCE v2}; {@code IB/RoCE v1} on InfiniBand and for version 1
 */
public record PortGid(int index, String value, String type) {
  private static final String MAPPED = "0000:0000:0000:0000:0000:ffff:";
  private static final String LINK_LOCAL = "fe80:";

  public boolean version2() {
    return type.equals("RoCE v2");
  }

  /** Whether it is an IPv4 address, mapped into IPv6. */
  public boolean ipv4() {
    return value.startsWith(MAPPED);
  }

  public boolean linkLocal() {
    return value.startsWith(LINK_LOCAL);
  }
}
