package dev.doorbell.core.mlx5;

import dev.doorbell.core.print.Scratch;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Kinds of send queues, whose messages begin with different segments. */
public enum WqeQueue {
  /** Reliable or unreliable connection: nothing before the operation's own segments. */
  RC(null),
  /** Dynamically connected, the initiator's side: an address vector in every message. */
  DC(WqeLayout.Kind.DATAGRAM),
  /** Unreliable datagrams: an address vector in every message. */
  UD(WqeLayout.Kind.DATAGRAM),
  /** Raw packets: an Ethernet segment. */
  ETH(WqeLayout.Kind.ETHERNET),
  /** Extended reliable connection: the number of the peer's shared receive queue. */
  XRC(WqeLayout.Kind.XRC);

  final WqeLayout.@Nullable Kind first;

  WqeQueue(WqeLayout.@Nullable Kind first) {
    this.first = first;
  }

  /**
   * Returns the queues by which a WQE reads well formed, best first; empty when there is none.
   *
   * @param wqe at least 16 bytes
   */
  public static List<WqeQueue> fitting(byte[] wqe) {
    int opcode = Scratch.with(wqe, ControlSegment::opcode);
    if (!Opcode.isMessage(opcode)) {
      return List.of(opcode == Opcode.TSO || opcode == Opcode.ENHANCED_MPSW ? ETH : RC);
    }
    boolean remote = Opcode.hasRemoteAddress(opcode);
    return Scratch.with(
        wqe,
        address ->
            Arrays.stream(values())
                .filter(queue -> !remote || (queue != UD && queue != ETH))
                .filter(queue -> WqeLayout.of(address, wqe.length, queue).problem().isEmpty())
                .sorted(
                    Comparator.comparingInt(
                        queue -> WqeLayout.of(address, wqe.length, queue).oddities(address, queue)))
                .toList());
  }
}
