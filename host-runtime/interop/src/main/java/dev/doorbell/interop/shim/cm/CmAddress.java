package dev.doorbell.interop.shim.cm;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;

/**
 * An address of an id: {@code struct sockaddr_in}, {@code sockaddr_in6} or {@code sockaddr_ib}.
 *
 * @param family {@link #INET}, {@link #INET6} or {@link #IB}
 * @param gid the address; an IPv4 one as a GID has it
 * @param service port space and port: the low 32 bits of a service identifier
 */
record CmAddress(int family, Gid gid, int service) {
  static final int INET = 2;
  static final int INET6 = 10;
  static final int IB = 27;

  private static final int INET_BYTES = 16;
  private static final int INET6_BYTES = 28;
  private static final int IB_BYTES = 48;
  private static final int DEFAULT_PARTITION = 0xffff;
  private static final int PORT_MASK = 0xffff;

  /** No particular address. */
  static CmAddress any(int family, int portSpace) {
    return new CmAddress(
        family, family == INET ? Gid.ofIpv4(0) : new Gid(0, 0), portSpace << Short.SIZE);
  }

  /**
   * Reads an address.
   *
   * @param size bytes that there are
   * @param portSpace of an IP address; {@code sockaddr_ib} has its own
   * @throws ErrnoException EAFNOSUPPORT or EINVAL
   */
  static CmAddress read(Struct from, int at, int size, int portSpace) throws ErrnoException {
    ErrnoException.require(size >= Short.BYTES, Errno.EINVAL);
    int family = from.u16(at);
    ErrnoException.require(size >= bytes(family), Errno.EINVAL);
    return switch (family) {
      case INET ->
          new CmAddress(
              family,
              Gid.ofIpv4(Integer.reverseBytes(from.u32(at + 4))),
              portSpace << Short.SIZE | from.be16(at + 2));
      case INET6 ->
          new CmAddress(
              family,
              new Gid(from.be64(at + 8), from.be64(at + 16)),
              portSpace << Short.SIZE | from.be16(at + 2));
      default ->
          new CmAddress(
              family, new Gid(from.be64(at + 8), from.be64(at + 16)), (int) from.be64(at + 24));
    };
  }

  private static int bytes(int family) throws ErrnoException {
    return switch (family) {
      case INET -> INET_BYTES;
      case INET6 -> INET6_BYTES;
      case IB -> IB_BYTES;
      default -> throw new ErrnoException(Errno.EAFNOSUPPORT);
    };
  }

  int bytes() {
    return switch (family) {
      case INET -> INET_BYTES;
      case INET6 -> INET6_BYTES;
      default -> IB_BYTES;
    };
  }

  void write(Struct to, int at) {
    to.u16(at, family);
    switch (family) {
      case INET -> to.be16(at + 2, port()).be32(at + 4, gid.ipv4());
      case INET6 -> to.be16(at + 2, port()).be64(at + 8, gid.high()).be64(at + 16, gid.low());
      default -> writeIb(to, at);
    }
  }

  /** Writes it as {@code struct sockaddr_ib}. */
  void writeIb(Struct to, int at) {
    to.u16(at, IB)
        .be16(at + 2, DEFAULT_PARTITION)
        .be64(at + 8, gid.high())
        .be64(at + 16, gid.low())
        .be64(at + 24, service & 0xffff_ffffL)
        .be64(at + 32, -1L);
  }

  boolean isAny() {
    return gid.high() == 0 && (gid.low() == 0 || (gid.isIpv4() && gid.ipv4() == 0));
  }

  /** True for 224.0.0.0/4 and ff00::/8, which commands after this one refuse. */
  boolean isMulticast() {
    return gid.isIpv4() ? gid.ipv4() >>> 28 == 0xe : gid.high() >>> 56 == 0xff;
  }

  boolean isIb() {
    return family == IB;
  }

  int port() {
    return service & PORT_MASK;
  }

  CmAddress withPort(int port) {
    return new CmAddress(family, gid, (service & ~PORT_MASK) | port);
  }

  CmAddress withGid(Gid other) {
    return new CmAddress(family, other, service);
  }
}
