package dev.doorbell.interop.serve;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlLine.Refused;
import dev.doorbell.interop.control.ControlPlace;
import dev.doorbell.proxy.HostPoster;
import dev.doorbell.proxy.ProxyPrices;
import java.util.Arrays;
import java.util.SplittableRandom;

/** One client of a served HCA, with an HCA of its own, from its coming to its going. */
final class SoakClient {
  private static final long NANOS = 60_000_000_000L;
  private static final long RESERVED = 1L << 26;
  private static final int BLOCKS = 16;
  private static final int LONGEST_LOG = 17;

  private SoakClient() {}

  /**
   * Connects, writes random bytes to a region of the server, reads them back, and leaves.
   *
   * @throws EnvironmentException when something is refused, or other bytes come back
   * @throws Refused when an answer is incomplete
   */
  static void visit(ControlPlace place, SplittableRandom random)
      throws EnvironmentException, Refused {
    byte[] content = new byte[random.nextInt(1, 1 << random.nextInt(1, LONGEST_LOG))];
    random.nextBytes(content);
    try (ControlClient control = new ControlClient(place, NANOS);
        DirectFabric fabric = new DirectFabric(AddressSpace.reserve(RESERVED), 0);
        HostRank rank = HostRank.open(fabric, 0, ServeOptions.LOCAL.address());
        Memory memory = rank.memory().allocate(MemoryKind.HOST, content.length, "client");
        MemoryRegion own = rank.domain().register(memory, HostQueuePair.RIGHTS);
        HostQueuePair queuePair = new HostQueuePair(rank.domain(), rank.memory(), BLOCKS, 0, 0)) {
      control.call(ControlLine.of("hello").with("version", 1));
      ControlLine region = control.call(ControlLine.of("region").with("bytes", content.length));
      int peer = HcaBench.connect(control, queuePair);
      CommandEntry command = new CommandEntry();
      command.length = content.length;
      command.localAddress = memory.address();
      command.localKey = own.lkey();
      command.remoteAddress = region.number("address", Long.MIN_VALUE, Long.MAX_VALUE);
      command.remoteKey = (int) region.number("rkey", 0, 0xffff_ffffL);
      try (HostPoster poster =
          new HostPoster(fabric, Locus.cpu(0), ProxyPrices.FREE, queuePair.access())) {
        memory.putBytes(0, content);
        command.opcode = CommandEntry.OP_PUT;
        carryOut(poster, command, queuePair);
        memory.putBytes(0, new byte[content.length]);
        command.opcode = CommandEntry.OP_GET;
        carryOut(poster, command, queuePair);
        if (!Arrays.equals(content, memory.getBytes(0, content.length))) {
          throw failure("other bytes are read back than were written");
        }
      }
      if (random.nextBoolean()) {
        control.call(ControlLine.of("disconnect").with("qpn", peer));
        control.call(ControlLine.of("release").with("rkey", region.word("rkey")));
      }
    }
  }

  private static void carryOut(HostPoster poster, CommandEntry command, HostQueuePair queuePair)
      throws EnvironmentException {
    poster.post(command);
    if (poster.await(NANOS) != RunOutcome.DONE) {
      throw failure("a request has not ended after a minute");
    }
    if (poster.counters().failed != 0) {
      throw failure(queuePair.firstError());
    }
  }

  private static EnvironmentException failure(String what) {
    return new EnvironmentException(Problem.of("DB-E045", null, what));
  }
}
