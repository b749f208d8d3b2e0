package dev.doorbell.softhca.packet;

import java.util.Locale;

/**
 * Counters of an HCA's port under the names that mlx5 gives them in {@code counters/} and {@code
 * hw_counters/} of sysfs. They count alike whether packets travel or messages are copied whole.
 * Source: Linux Documentation/infiniband/sysfs.rst; NVIDIA, "Understanding mlx5 Linux counters".
 */
@SuppressWarnings("EnumOrdinal") // counted at every packet: an array by counter
public final class PortCounters {
  /** Counters in the order in which they are shown; their file names are in lower case. */
  public enum Counter {
    PORT_XMIT_DATA(true),
    PORT_XMIT_PACKETS(true),
    PORT_XMIT_DISCARDS(true),
    PORT_RCV_DATA(true),
    PORT_RCV_PACKETS(true),
    LINK_DOWNED(true),
    DUPLICATE_REQUEST(false),
    IMPLIED_NAK_SEQ_ERR(false),
    LOCAL_ACK_TIMEOUT_ERR(false),
    NP_CNP_SENT(false),
    NP_ECN_MARKED_ROCE_PACKETS(false),
    OUT_OF_BUFFER(false),
    OUT_OF_SEQUENCE(false),
    PACKET_SEQ_ERR(false),
    REQ_CQE_ERROR(false),
    REQ_CQE_FLUSH_ERROR(false),
    REQ_REMOTE_ACCESS_ERRORS(false),
    REQ_REMOTE_INVALID_REQUEST(false),
    RESP_CQE_ERROR(false),
    RESP_CQE_FLUSH_ERROR(false),
    RESP_LOCAL_LENGTH_ERROR(false),
    RESP_REMOTE_ACCESS_ERRORS(false),
    RNR_NAK_RETRY_ERR(false),
    ROCE_ADP_RETRANS(false),
    RP_CNP_HANDLED(false),
    RX_ATOMIC_REQUESTS(false),
    RX_ICRC_ENCAPSULATED(false),
    RX_READ_REQUESTS(false),
    RX_WRITE_REQUESTS(false);

    private final boolean ofPort;

    Counter(boolean ofPort) {
      this.ofPort = ofPort;
    }

    /** Its path below the port: {@code counters/port_xmit_data}. */
    public String path() {
      return (ofPort ? "counters/" : "hw_counters/") + name().toLowerCase(Locale.ROOT);
    }
  }

  private final long[] counts = new long[Counter.values().length];

  /** Packets that were lost where they arrived, by a fault or while the port was down. */
  public long lost;

  public void add(Counter counter) {
    counts[counter.ordinal()]++;
  }

  /**
   * Counts messages that were carried out without packets, as the packets that they would have
   * taken, and one back for each.
   *
   * @param to counters of the port at the other end
   * @param bytes payload of the packets
   */
  public void carried(PortCounters to, long packets, long bytes, long messages) {
    long there = bytes + packets * Packet.FRAME_OVERHEAD;
    long back = messages * Packet.SMALLEST_FRAME;
    add(Counter.PORT_XMIT_PACKETS, Counter.PORT_XMIT_DATA, packets, there);
    to.add(Counter.PORT_RCV_PACKETS, Counter.PORT_RCV_DATA, packets, there);
    to.add(Counter.PORT_XMIT_PACKETS, Counter.PORT_XMIT_DATA, messages, back);
    add(Counter.PORT_RCV_PACKETS, Counter.PORT_RCV_DATA, messages, back);
  }

  /** Counts packets of {@code bytes} bytes in all; a port's data are counted in 4-byte words. */
  public void add(Counter packets, Counter data, long count, long bytes) {
    counts[packets.ordinal()] += count;
    counts[data.ordinal()] += bytes / Integer.BYTES;
  }

  public long get(Counter counter) {
    return counts[counter.ordinal()];
  }
}
