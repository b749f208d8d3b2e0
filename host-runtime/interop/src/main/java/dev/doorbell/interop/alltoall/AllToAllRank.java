package dev.doorbell.interop.alltoall;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlLine.Refused;
import dev.doorbell.interop.serve.HostQueuePair;
import dev.doorbell.proxy.ProxyPrices;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** One rank of an all-to-all: its inbox, and a connection to each other rank. */
final class AllToAllRank implements AutoCloseable {
  private static final int MAX_QPN = 0xff_ffff;

  private final AllToAllTraffic traffic;
  private final int rank;
  private final int ranks;
  private final Memory inbox;
  private final MemoryRegion region;

  /** In the order of their peers, this rank left out. */
  final List<AllToAllConnection> connections = new ArrayList<>();

  private final byte[] seen = new byte[AllToAllTraffic.PART];

  /**
   * @param prices of the CPU that posts
   */
  AllToAllRank(
      Fabric fabric,
      int rank,
      int ranks,
      long seed,
      ProxyPrices prices,
      ProtectionDomain domain,
      MemoryProvider memory) {
    this.traffic = new AllToAllTraffic(seed);
    this.rank = rank;
    this.ranks = ranks;
    inbox = memory.allocate(MemoryKind.HOST, part(ranks) + (long) ranks * Long.BYTES, "inbox");
    region = domain.register(inbox, HostQueuePair.RIGHTS);
    for (int peer = 0; peer < ranks; peer++) {
      if (peer != rank) {
        connections.add(
            new AllToAllConnection(traffic, id(rank, peer), fabric, rank, prices, domain, memory));
      }
    }
  }

  private long id(int from, int to) {
    return (long) from * ranks + to;
  }

  private static long part(int source) {
    return (long) source * AllToAllTraffic.PART;
  }

  /** Counters lie behind the parts, one for each source. */
  private long counter(int source) {
    return part(ranks) + (long) source * Long.BYTES;
  }

  private int index(int peer) {
    return peer < rank ? peer : peer - 1;
  }

  /** The addresses and keys that peers need to connect. */
  String description() {
    ControlLine description =
        ControlLine.of("rank").with("inbox", inbox.address()).with("rkey", region.rkey());
    for (int peer = 0; peer < ranks; peer++) {
      if (peer != rank) {
        QueuePairAddress own = connections.get(index(peer)).queuePair.queuePair().address();
        description =
            description
                .with("hca", own.hca())
                .with("mtu", own.mtu())
                .with("qpn%d".formatted(peer), own.number())
                .with("psn%d".formatted(peer), own.startPsn());
      }
    }
    return description.text();
  }

  /** Connects to all others, by their descriptions. */
  void connect(List<String> descriptions) throws Refused {
    for (int peer = 0; peer < ranks; peer++) {
      if (peer != rank) {
        ControlLine description = ControlLine.parse(descriptions.get(peer));
        AllToAllConnection connection = connections.get(index(peer));
        connection.queuePair.connect(
            new QueuePairAddress(
                description.word("hca"),
                (int) description.number("qpn%d".formatted(rank), 1, MAX_QPN),
                (int) description.number("psn%d".formatted(rank), 0, MAX_QPN),
                (int) description.number("mtu", 256, 4096)),
            HostQueuePair.LOSSY);
        long there = description.number("inbox", Long.MIN_VALUE, Long.MAX_VALUE);
        connection.setTarget(
            there + part(rank),
            there + counter(rank),
            (int) description.number("rkey", Integer.MIN_VALUE, Integer.MAX_VALUE));
      }
    }
  }

  /**
   * The number of bytes in which the part of {@code source} differs from {@code round}'s content.
   */
  long wrongBytes(int source, long round) {
    if (source == rank) {
      return 0;
    }
    inbox.read(part(source), MemorySegment.ofArray(seen));
    long id = id(source, rank);
    byte[] content = traffic.content(id, round);
    long wrong = 0;
    for (int message = 0; message < AllToAllTraffic.MESSAGES; message++) {
      int opcode = AllToAllTraffic.opcode(message);
      if (opcode == CommandEntry.OP_PUT || opcode == CommandEntry.OP_PUT_INLINE) {
        int place = AllToAllTraffic.place(message);
        wrong +=
            AllToAllConnection.differences(
                seen, place, content, place, traffic.length(id, round, message));
      }
    }
    return wrong;
  }

  /** The error in the count of {@code source}'s atomics after {@code round}. */
  long wrongCount(int source, long round) {
    return source == rank
        ? 0
        : Math.abs(inbox.getLong(counter(source)) - (round + 1) * AllToAllTraffic.ADDS);
  }

  @Override
  public void close() {
    connections.forEach(AllToAllConnection::close);
    region.close();
    inbox.close();
  }
}
