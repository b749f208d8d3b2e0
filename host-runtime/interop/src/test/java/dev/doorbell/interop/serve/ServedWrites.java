package dev.doorbell.interop.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.proxy.HostPoster;
import dev.doorbell.proxy.ProxyPrices;
import java.util.SplittableRandom;

/** A client that WRITEs to a served HCA and reads the last bytes back. */
final class ServedWrites {
  private static final long NANOS = 60_000_000_000L;
  private static final int DEPTH = 8;
  private static final int BLOCKS = 16;

  private ServedWrites() {}

  /** Sends {@code messages} WRITEs of {@code bytes} each, and leaves. */
  static void run(ControlPlace at, int bytes, int messages) throws Exception {
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 30), 0);
    try (ControlClient client = new ControlClient(at, NANOS);
        HostRank rank = HostRank.open(fabric, 0, "127.0.0.1");
        Memory source = rank.memory().allocate(MemoryKind.HOST, bytes, "source");
        Memory back = rank.memory().allocate(MemoryKind.HOST, bytes, "read back");
        MemoryRegion sourceRegion = rank.domain().register(source, HostQueuePair.RIGHTS);
        MemoryRegion backRegion = rank.domain().register(back, HostQueuePair.RIGHTS);
        HostQueuePair queuePair = new HostQueuePair(rank.domain(), rank.memory(), BLOCKS, 0, 0)) {
      ControlLine region = client.call(ControlLine.of("region").with("bytes", bytes));
      int peerNumber = connect(client, queuePair);
      byte[] content = new byte[bytes];
      new SplittableRandom(bytes).nextBytes(content);
      source.putBytes(0, content);
      CommandEntry command = new CommandEntry();
      command.opcode = CommandEntry.OP_PUT;
      command.length = bytes;
      command.localAddress = source.address();
      command.localKey = sourceRegion.lkey();
      command.remoteAddress = region.number("address", Long.MIN_VALUE, Long.MAX_VALUE);
      command.remoteKey = (int) region.number("rkey", 0, 0xffff_ffffL);
      try (HostPoster poster =
          new HostPoster(fabric, Locus.cpu(0), ProxyPrices.FREE, queuePair.access())) {
        carryOut(fabric, poster, command, messages);
        command.opcode = CommandEntry.OP_GET;
        command.localAddress = back.address();
        command.localKey = backRegion.lkey();
        carryOut(fabric, poster, command, 1);
        assertThat(poster.counters().failed).as("failed requests").isZero();
      }
      assertThat(back.getBytes(0, bytes)).isEqualTo(content);
      client.call(ControlLine.of("disconnect").with("qpn", peerNumber));
      client.call(ControlLine.of("release").with("rkey", region.word("rkey")));
    } finally {
      fabric.close();
    }
  }

  /** Connects a queue pair to a new one of the server, and returns the number of that one. */
  private static int connect(ControlClient client, HostQueuePair queuePair) throws Exception {
    QueuePairAddress mine = queuePair.queuePair().address();
    ControlLine peer =
        client.call(
            ControlLine.of("connect")
                .with("hca", mine.hca())
                .with("qpn", mine.number())
                .with("psn", mine.startPsn())
                .with("mtu", mine.mtu()));
    int number = (int) peer.number("qpn", 0, Integer.MAX_VALUE);
    queuePair.connect(
        new QueuePairAddress(
            peer.word("hca"),
            number,
            (int) peer.number("psn", 0, Integer.MAX_VALUE),
            (int) peer.number("mtu", 256, 4096)),
        HostQueuePair.LOSSY);
    return number;
  }

  private static void carryOut(
      DirectFabric fabric, HostPoster poster, CommandEntry command, int messages) {
    long target = poster.ended() + messages;
    long[] posted = {poster.ended()};
    RunOutcome outcome =
        fabric.run(
            () -> {
              for (; posted[0] < Math.min(target, poster.ended() + DEPTH); posted[0]++) {
                poster.post(command);
              }
              return poster.ended() == target;
            },
            NANOS);
    assertThat(outcome).isEqualTo(RunOutcome.DONE);
  }
}
