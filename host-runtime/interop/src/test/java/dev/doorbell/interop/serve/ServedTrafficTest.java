package dev.doorbell.interop.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Doorbell;
import dev.doorbell.core.mlx5.DoorbellRecord;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.SendQueue;
import dev.doorbell.core.mlx5.generated.DataSegment;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.proxy.HostPoster;
import dev.doorbell.proxy.ProxyPrices;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SENDs and atomics to a served HCA whose wire loses and doubles packets. */
class ServedTrafficTest {
  private static final long MINUTE = 60_000_000_000L;
  private static final int SENDS = 100;
  private static final int BLOCKS = 16;

  private final AtomicBoolean stop = new AtomicBoolean();
  private final DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 30), 0);
  private HcaServer served;
  private Thread server;
  private ControlClient client;
  private HostRank rank;

  @BeforeEach
  void serve() throws Exception {
    FaultTrigger often = FaultTrigger.chance(0.05);
    FaultPlan plan =
        new FaultPlan(
            3,
            List.of(
                Fault.of(FaultAction.LOSE, FaultEvent.PACKET_RECEIVED, often),
                Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, often),
                Fault.of(FaultAction.DUPLICATE, FaultEvent.PACKET_RECEIVED, often)));
    HcaServer hca = new HcaServer(ServeOptions.LOCAL.withFaults(plan));
    served = hca;
    server = Thread.ofPlatform().start(() -> hca.run(stop::get));
    client = new ControlClient(hca.control(), MINUTE);
    rank = HostRank.open(fabric, 0, "127.0.0.1");
  }

  @AfterEach
  void end() throws Exception {
    rank.close();
    client.close();
    stop.set(true);
    server.join();
    served.close();
    fabric.close();
  }

  /** Connects; the peer's number. */
  private int connect(HostQueuePair own, int receives) throws Exception {
    QueuePairAddress mine = own.queuePair().address();
    ControlLine peer =
        client.call(
            ControlLine.of("connect")
                .with("hca", mine.hca())
                .with("qpn", mine.number())
                .with("psn", mine.startPsn())
                .with("mtu", mine.mtu())
                .with("receives", receives));
    int number = (int) peer.number("qpn", 1, 0xff_ffff);
    own.connect(
        new QueuePairAddress(
            peer.word("hca"), number, (int) peer.number("psn", 0, 0xff_ffff), mine.mtu()),
        HostQueuePair.LOSSY);
    return number;
  }

  @Test
  void every_send_is_received_once_however_few_receives_there_are() throws Exception {
    ThreadPort cpu = fabric.attachThread(Locus.cpu(0), budget -> 0);
    try (Memory payload = rank.memory().allocate(MemoryKind.HOST, 4_096, "payload");
        MemoryRegion region = rank.domain().register(payload, HostQueuePair.RIGHTS);
        HostQueuePair own = new HostQueuePair(rank.domain(), rank.memory(), BLOCKS, 0, 0)) {
      int peer = connect(own, 4);
      QueuePair queuePair = own.queuePair();
      long bytes = 0;
      for (int i = 0; i < SENDS; i++) {
        int length = 1 + i * 37 % 4_096;
        bytes += length;
        long wqe = queuePair.sendRingAddress() + (long) (i % BLOCKS) * SendQueue.BLOCK;
        ControlSegment.write(
            wqe, 0, i, Opcode.SEND, queuePair.number(), 2, ControlSegment.CQ_UPDATE, 0);
        DataSegment.write(wqe + 16, length, region.lkey(), payload.address());
        DoorbellRecord.putSendIndex(queuePair.recordAddress(), i + 1);
        cpu.store64(
            queuePair.doorbellAddress(), Doorbell.encode(i + 1, queuePair.number()), Access.MMIO);
        int posted = i;
        assertThat(fabric.run(() -> own.sent() == posted + 1, MINUTE)).isEqualTo(RunOutcome.DONE);
      }
      ControlLine received = client.call(ControlLine.of("received").with("qpn", peer));
      assertThat(received.number("messages", 0, Long.MAX_VALUE)).isEqualTo(SENDS);
      assertThat(received.number("bytes", 0, Long.MAX_VALUE)).isEqualTo(bytes);
      assertThat(received.word("state")).isEqualTo("RTS");
    }
  }

  @Test
  void every_atomic_is_applied_once() throws Exception {
    try (Memory results = rank.memory().allocate(MemoryKind.HOST, 4_096, "results");
        MemoryRegion region = rank.domain().register(results, HostQueuePair.RIGHTS);
        HostQueuePair own = new HostQueuePair(rank.domain(), rank.memory(), BLOCKS, 0, 0)) {
      ControlLine cell = client.call(ControlLine.of("region").with("bytes", Long.BYTES));
      connect(own, 0);
      CommandEntry command = new CommandEntry();
      command.length = Long.BYTES;
      command.localKey = region.lkey();
      command.remoteAddress = cell.number("address", Long.MIN_VALUE, Long.MAX_VALUE);
      command.remoteKey = (int) cell.number("rkey", 0, 0xffff_ffffL);
      try (HostPoster poster =
          new HostPoster(fabric, Locus.cpu(0), ProxyPrices.FREE, own.access())) {
        int adds = 200;
        command.opcode = CommandEntry.OP_FETCH_ADD;
        command.operand = 3;
        for (int i = 0; i < adds; i++) {
          command.localAddress = results.address() + (long) Long.BYTES * i;
          poster.post(command);
        }
        command.opcode = CommandEntry.OP_COMPARE_SWAP;
        command.compare = 3L * adds;
        command.operand = 7;
        command.localAddress = results.address() + (long) Long.BYTES * adds;
        poster.post(command);
        command.localAddress += Long.BYTES;
        poster.post(command);
        assertThat(poster.await(MINUTE)).isEqualTo(RunOutcome.DONE);
        assertThat(poster.counters().failed).isZero();
        for (int i = 0; i <= adds; i++) {
          assertThat(results.getLong((long) Long.BYTES * i)).as("atomic %d", i).isEqualTo(3L * i);
        }
        assertThat(results.getLong((long) Long.BYTES * (adds + 1))).isEqualTo(7);
      }
    }
  }
}
