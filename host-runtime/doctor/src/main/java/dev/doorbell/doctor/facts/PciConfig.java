package dev.doorbell.doctor.facts;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The fields of a function's config space that the checks read. Offsets and bits are those of the
 * PCI Express base specification, chapter 7: the capability list starts at the byte at 0x34, the
 * extended one at 0x100.
 *
 * <pre>
 * PCI Express capability (id 0x10)            extended capability header
 *  +0x02 capabilities   7:4 port type          31:20 next  19:16 version  15:0 id
 *  +0x04 DevCap         2:0 MPS  5 ext. tags  ACS (id 0x000d)
 *  +0x08 DevCtl         4 RO  7:5 MPS           +0x06 control  2 request redirect
 *                       8 ext. tags  14:12 MRRS               3 completion redirect  4 upstream fwd
 *  +0x24 DevCap2        17 10-bit tag req.    ATS (id 0x000f)
 *  +0x28 DevCtl2        12 10-bit tag req.      +0x06 control 15 enable
 * </pre>
 *
 * @param express empty when the function is not PCI Express, or the capability is out of reach: the
 *     kernel shows a process without CAP_SYS_ADMIN the first 64 bytes alone
 * @param acs the ACS control register, empty where there is none or it is out of reach
 * @param ats whether address translation services are on; empty as for {@code acs}
 * @param whole whether the extended space could be read
 */
public record PciConfig(
    Optional<Express> express, Optional<Integer> acs, Optional<Boolean> ats, boolean whole) {

  /**
   * The PCI Express capability.
   *
   * @param portType 0 endpoint, 4 root port, 5 upstream and 6 downstream port of a switch
   * @param maxPayload bytes that a TLP may carry as set; {@code payloadSupported} as could be set
   * @param maxReadRequest bytes that one read may ask for
   */
  public record Express(
      int portType,
      int maxPayload,
      int payloadSupported,
      int maxReadRequest,
      boolean relaxedOrdering,
      boolean extendedTagsSupported,
      boolean extendedTags,
      boolean tenBitTagsSupported,
      boolean tenBitTags) {}

  static final PciConfig UNREAD =
      new PciConfig(Optional.empty(), Optional.empty(), Optional.empty(), false);

  private static final int HEADER = 64;
  private static final int EXTENDED = 256;
  private static final int LIST = 0x34;
  private static final int EXPRESS = 0x10;
  private static final int ACS = 0x000d;
  private static final int ATS = 0x000f;
  private static final int CONTROL = 6;
  private static final int REDIRECTS = 0b11100;
  private static final int ATS_ENABLE = 1 << 15;

  /**
   * Returns true if a switch port with this ACS control sends peers' requests up to the root
   * complex.
   */
  public boolean redirectsPeers() {
    return acs.filter(control -> (control & REDIRECTS) != 0).isPresent();
  }

  /** Reads what the kernel gave, 64, 256 or 4096 bytes; a damaged list ends where it is damaged. */
  static PciConfig parse(byte[] bytes) {
    ByteBuffer space = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    if (bytes.length < HEADER) {
      return UNREAD;
    }
    Optional<Express> express =
        capability(space, EXPRESS)
            .filter(at -> at + 0x2c <= bytes.length)
            .map(at -> express(space, at));
    return new PciConfig(
        express,
        extended(space, ACS).map(at -> (int) space.getShort(at + CONTROL) & 0xffff),
        extended(space, ATS).map(at -> (space.getShort(at + CONTROL) & ATS_ENABLE) != 0),
        bytes.length > EXTENDED);
  }

  private static Optional<Integer> capability(ByteBuffer space, int id) {
    int at = space.get(LIST) & 0xfc;
    for (int seen = 0;
        seen < 48 && at >= HEADER && at + 2 <= Math.min(EXTENDED, space.limit());
        seen++) {
      if ((space.get(at) & 0xff) == id) {
        return Optional.of(at);
      }
      at = space.get(at + 1) & 0xfc;
    }
    return Optional.empty();
  }

  private static Optional<Integer> extended(ByteBuffer space, int id) {
    int at = EXTENDED;
    for (int seen = 0; seen < 480 && at >= EXTENDED && at + 8 <= space.limit(); seen++) {
      int header = space.getInt(at);
      if (header == 0 || header == -1) {
        return Optional.empty();
      }
      if ((header & 0xffff) == id) {
        return Optional.of(at);
      }
      at = header >>> 20 & 0xffc;
    }
    return Optional.empty();
  }

  private static Express express(ByteBuffer space, int at) {
    int flags = space.getShort(at + 2);
    int can = space.getInt(at + 4);
    int control = space.getShort(at + 8);
    int can2 = space.getInt(at + 0x24);
    int control2 = space.getShort(at + 0x28);
    return new Express(
        flags >> 4 & 0xf,
        128 << (control >> 5 & 7),
        128 << (can & 7),
        128 << (control >> 12 & 7),
        (control & 1 << 4) != 0,
        (can & 1 << 5) != 0,
        (control & 1 << 8) != 0,
        (can2 & 1 << 17) != 0,
        (control2 & 1 << 12) != 0);
  }
}
