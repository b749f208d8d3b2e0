package dev.doorbell.interop.shim.command;

import dev.doorbell.core.hca.Errno;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.abi.Struct;
import dev.doorbell.softhca.steering.FrameFields;
import dev.doorbell.softhca.steering.FrameFields.FlowMatch;

/**
 * The fields that a rule of verbs matches, from its specifications: {@code struct
 * ib_uverbs_flow_spec_*}, each of which has a head of 8 bytes, a filter's values, and its masks.
 */
final class FlowFields {
  private static final int HEAD = 8;

  private static final int MAC_BYTES = 6;

  private final byte[] value = new byte[FrameFields.BYTES];
  private final byte[] mask = new byte[FrameFields.BYTES];

  /** The specification that is being read. */
  private Struct from = new Struct(0);

  private int at;

  /** Bytes of its filter: masks follow values. */
  private int filter;

  FlowMatch match() {
    return new FlowMatch(value, mask);
  }

  /** Any frame to a multicast address. */
  void anyMulticast() {
    put(FrameFields.DESTINATION_MAC, 1, 1);
  }

  /**
   * Adds a specification.
   *
   * @return its bytes
   * @throws ErrnoException EOPNOTSUPP for kinds and fields that are not served
   */
  int add(Struct in, int start) throws ErrnoException {
    ErrnoException.require(in.size() >= start + HEAD, Errno.EINVAL);
    int size = in.u16(start + 4);
    ErrnoException.require(
        size >= HEAD && size % Integer.BYTES == 0 && in.size() >= start + size, Errno.EINVAL);
    from = in;
    at = start + HEAD;
    filter = (size - HEAD) / 2;
    int known =
        switch (in.u32(start)) {
          case UverbsAbi.FLOW_SPEC_ETHERNET -> ethernet();
          case UverbsAbi.FLOW_SPEC_IPV4, UverbsAbi.FLOW_SPEC_IPV4_EXTENDED -> ipv4();
          case UverbsAbi.FLOW_SPEC_IPV6 -> ipv6();
          case UverbsAbi.FLOW_SPEC_TCP -> ports(FrameFields.TCP, FrameFields.TCP_PORTS);
          case UverbsAbi.FLOW_SPEC_UDP -> ports(FrameFields.UDP, FrameFields.UDP_PORTS);
          default -> throw new ErrnoException(Errno.EOPNOTSUPP);
        };
    for (int i = known; i < filter; i++) {
      ErrnoException.require(in.u8(at + filter + i) == 0, Errno.EOPNOTSUPP);
    }
    return size;
  }

  private int ethernet() throws ErrnoException {
    copy(0, FrameFields.DESTINATION_MAC, MAC_BYTES);
    copy(MAC_BYTES, FrameFields.SOURCE_MAC, MAC_BYTES);
    copy(12, FrameFields.ETHERTYPE, Short.BYTES);
    copy(14, FrameFields.VLAN, Short.BYTES);
    if (mask[FrameFields.VLAN] != 0 || mask[FrameFields.VLAN + 1] != 0) {
      int tag = FrameFields.CUSTOMER_TAG >>> Byte.SIZE;
      put(FrameFields.KIND, tag, tag);
    }
    return 16;
  }

  private int ipv4() throws ErrnoException {
    ethertype(FrameFields.IPV4);
    copy(0, FrameFields.SOURCE + FrameFields.IPV4_OFFSET, Integer.BYTES);
    copy(4, FrameFields.DESTINATION + FrameFields.IPV4_OFFSET, Integer.BYTES);
    if (filter == 2 * Integer.BYTES) {
      return filter;
    }
    copy(8, FrameFields.PROTOCOL, 1);
    copy(9, FrameFields.TRAFFIC_CLASS, 1);
    copy(10, FrameFields.HOP_LIMIT, 1);
    return 11;
  }

  private int ipv6() throws ErrnoException {
    ethertype(FrameFields.IPV6);
    copy(0, FrameFields.SOURCE, 16);
    copy(16, FrameFields.DESTINATION, 16);
    for (int i = 32; i < 36; i++) {
      // The flow label.
      ErrnoException.require(from.u8(at + filter + i) == 0, Errno.EOPNOTSUPP);
    }
    copy(36, FrameFields.PROTOCOL, 1);
    copy(37, FrameFields.TRAFFIC_CLASS, 1);
    copy(38, FrameFields.HOP_LIMIT, 1);
    return 39;
  }

  /** The filter has the destination first. */
  private int ports(int protocol, int ports) throws ErrnoException {
    put(FrameFields.PROTOCOL, protocol, 0xff);
    copy(0, ports + Short.BYTES, Short.BYTES);
    copy(2, ports, Short.BYTES);
    return Integer.BYTES;
  }

  private void ethertype(int type) {
    put(FrameFields.ETHERTYPE, type >>> Byte.SIZE, 0xff);
    put(FrameFields.ETHERTYPE + 1, type, 0xff);
  }

  private void put(int field, int value, int mask) {
    this.value[field] = (byte) value;
    this.mask[field] |= (byte) mask;
  }

  /** Takes a field of the filter; one that the mask leaves out stays as it is. */
  private void copy(int offset, int field, int bytes) throws ErrnoException {
    ErrnoException.require(offset + bytes <= filter, Errno.EINVAL);
    for (int i = 0; i < bytes; i++) {
      int bits = from.u8(at + filter + offset + i);
      if (bits != 0) {
        put(field + i, from.u8(at + offset + i), bits);
      }
    }
  }
}
