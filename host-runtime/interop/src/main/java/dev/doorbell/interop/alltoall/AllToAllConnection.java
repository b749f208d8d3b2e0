package dev.doorbell.interop.alltoall;

import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.interop.serve.HostQueuePair;
import dev.doorbell.proxy.HostPoster;
import dev.doorbell.proxy.ProxyPrices;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The messages of one rank to another. */
final class AllToAllConnection implements AutoCloseable {
  private static final int BLOCKS = 128;
  private static final int OUTSTANDING = 64;
  private static final int GETS = AllToAllTraffic.PART;
  private static final int RESULTS = GETS + AllToAllTraffic.PART;
  private static final int OUTBOX = RESULTS + AllToAllTraffic.MESSAGES * Long.BYTES;

  private final AllToAllTraffic traffic;
  private final long id;
  private final Fabric fabric;
  private final Locus cpu;
  private final ProxyPrices prices;
  final HostQueuePair queuePair;
  private final Memory outbox;
  private final MemoryRegion region;
  private final byte[] seen = new byte[OUTBOX];
  private final CommandEntry command = new CommandEntry();
  private @Nullable HostPoster poster;
  private long remotePart;
  private long remoteCounter;
  private int remoteKey;
  private long round = -1;
  private int next;
  private long target;

  /**
   * @param id unique in the job; the same at both ends
   * @param prices of the CPU that posts
   */
  AllToAllConnection(
      AllToAllTraffic traffic,
      long id,
      Fabric fabric,
      int rank,
      ProxyPrices prices,
      ProtectionDomain domain,
      MemoryProvider memory) {
    this.traffic = traffic;
    this.id = id;
    this.fabric = fabric;
    this.cpu = Locus.cpu(rank);
    this.prices = prices;
    this.queuePair = new HostQueuePair(domain, memory, BLOCKS, 0, 0);
    this.outbox = memory.allocate(MemoryKind.HOST, OUTBOX, "outbox");
    this.region = domain.register(outbox, HostQueuePair.RIGHTS);
  }

  /** Sets the memory of the peer to which messages go. */
  void setTarget(long part, long counter, int key) {
    remotePart = part;
    remoteCounter = counter;
    remoteKey = key;
    poster = new HostPoster(fabric, cpu, prices, queuePair.access());
  }

  private HostPoster poster() {
    HostPoster made = poster;
    if (made == null) {
      throw new IllegalStateException("setTarget comes first");
    }
    return made;
  }

  /** Begins the next round. */
  void begin() {
    round++;
    next = 0;
    target = poster().ended() + AllToAllTraffic.MESSAGES;
    outbox.putBytes(0, traffic.content(id, round));
  }

  /**
   * Posts as many messages as may be outstanding.
   *
   * @return true when all messages of the round have ended
   */
  boolean post() {
    HostPoster to = poster();
    long ended = to.ended() - (target - AllToAllTraffic.MESSAGES);
    while (next < AllToAllTraffic.MESSAGES && next - ended < OUTSTANDING) {
      fill(next);
      to.post(command);
      next++;
    }
    return to.ended() == target;
  }

  private void fill(int message) {
    int opcode = AllToAllTraffic.opcode(message);
    int place = AllToAllTraffic.place(message);
    command.opcode = opcode;
    command.length = traffic.length(id, round, message);
    command.remoteAddress = remotePart + place;
    command.remoteKey = remoteKey;
    command.localKey = region.lkey();
    command.localAddress = outbox.address() + place;
    switch (opcode) {
      case CommandEntry.OP_FETCH_ADD -> {
        command.remoteAddress = remoteCounter;
        command.localAddress = outbox.address() + RESULTS + (long) message * Long.BYTES;
        command.operand = 1;
      }
      case CommandEntry.OP_GET -> command.localAddress += GETS;
      case CommandEntry.OP_PUT_INLINE -> command.inline(outbox.getBytes(place, command.length));
      default -> {}
    }
  }

  /** True when a message has ended with an error. */
  boolean failed() {
    return poster().counters().failed != 0;
  }

  /** The number of bytes that the GETs of the round read back wrong. */
  long wrongBytes() {
    outbox.read(0, MemorySegment.ofArray(seen));
    byte[] content = traffic.content(id, round);
    long wrong = 0;
    for (int message = 0; message < AllToAllTraffic.MESSAGES; message++) {
      if (AllToAllTraffic.opcode(message) == CommandEntry.OP_GET) {
        int place = AllToAllTraffic.place(message);
        wrong +=
            differences(seen, GETS + place, content, place, traffic.length(id, round, message));
      }
    }
    return wrong;
  }

  /** Atomics of the round that did not return the number of those before them. */
  long wrongAtomics() {
    ByteBuffer words = ByteBuffer.wrap(seen).order(ByteOrder.LITTLE_ENDIAN);
    long before = round * AllToAllTraffic.ADDS;
    long wrong = 0;
    for (int message = 0; message < AllToAllTraffic.MESSAGES; message++) {
      if (AllToAllTraffic.opcode(message) == CommandEntry.OP_FETCH_ADD
          && words.getLong(RESULTS + message * Long.BYTES) != before++) {
        wrong++;
      }
    }
    return wrong;
  }

  /** Bytes of {@code length} that differ. */
  static int differences(byte[] a, int atA, byte[] b, int atB, int length) {
    int different = 0;
    for (int i = 0; i < length; i++) {
      different += a[atA + i] == b[atB + i] ? 0 : 1;
    }
    return different;
  }

  @Override
  public void close() {
    if (poster != null) {
      poster.close();
    }
    queuePair.close();
    region.close();
    outbox.close();
  }
}
