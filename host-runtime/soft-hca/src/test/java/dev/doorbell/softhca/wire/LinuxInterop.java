package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.EndpointWqe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The software HCA and Linux's Soft-RoCE, each as requester and as responder, over a cable. One
 * guest serves all tests; each makes queue pairs of its own. Subclasses say which Linux it is.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class LinuxInterop {
  private static final String GUEST = "10.88.0.2";
  private static final int GUEST_PSN = 0xfffff0;

  // enum ibv_wc_status and ibv_wc_opcode.
  private static final int SUCCESS = 0;
  private static final int REMOTE_ACCESS_ERROR = 10;
  private static final int RETRY_EXCEEDED = 12;
  private static final int RNR_RETRY_EXCEEDED = 13;

  private final GuestKind kind;
  private final PacketLoss faults = new PacketLoss();

  @SuppressWarnings("NullAway.Init") // set where there is a guest; every test is skipped elsewhere
  private SoftWorld world;

  @SuppressWarnings("NullAway.Init") // as the world
  private RoceWire wire;

  @SuppressWarnings("NullAway.Init") // as the world
  private GuestPeer guest;

  private boolean connected;
  private String obstacle = "";

  @SuppressWarnings("NullAway.Init") // every test connects first
  private Endpoint end;

  private int guestQueuePair;
  private int guestKey;
  private long guestMemory;

  LinuxInterop(GuestKind kind) {
    this.kind = kind;
  }

  @BeforeAll
  void boot(@TempDir Path folder) throws IOException, InterruptedException {
    obstacle = kind.obstacle();
    if (!obstacle.isEmpty()) {
      return;
    }
    Path peer = GuestPeer.compile(folder);
    DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 30), 0);
    EthernetOptions options = EthernetOptions.of(0x02_00_00_00_00_01L, Gid.parse("10.88.0.1"));
    wire = EthernetLink.wire(fabric, Locus.nic(0, 0), 0, 0, options, faults);
    world =
        new SoftWorld(
            fabric,
            SoftHcaOptions.DEFAULT,
            (hca, side) -> {
              if (side == 0) {
                wire.join(hca);
              }
            });
    guest = GuestPeer.start(kind, wire.port(), peer);
    if (guest.boots(kind.bootSeconds(), this::pump)) {
      guest.await("ready", 300, this::pump);
    } else {
      obstacle = "the guest does not boot here; it says\n" + guest.log();
    }
  }

  /** Here, as Surefire does not count what {@link #boot} would skip. */
  @BeforeEach
  void skipWithoutGuest() {
    assumeTrue(obstacle.isEmpty(), obstacle);
  }

  @AfterAll
  void halt() {
    if (guest != null) {
      guest.close();
    }
    if (world != null) {
      world.close();
    }
  }

  /** Lets our end work a little. */
  private boolean pump() {
    int[] sweeps = {64};
    return !world.runUntil(() -> sweeps[0]-- == 0);
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private String ask(String command, Object... values) {
    return guest.ask(this::pump, command.formatted(values));
  }

  private void connect(int mtu) {
    connect(mtu, 7, 7);
  }

  private void connect(int mtu, int retries, int rnrRetries) {
    faults.none();
    end = new Endpoint(world, 0, Endpoint.Shape.usual());
    connected = true;
    String[] words = ask("create").split(" ", -1);
    guestQueuePair = Integer.parseInt(words[1]);
    guestKey = Integer.parseUnsignedInt(words[2]);
    guestMemory = Long.parseLong(words[3]);
    QueuePairAddress own = end.queuePair.address();
    end.queuePair.connect(
        new QueuePairAddress(GUEST, guestQueuePair, GUEST_PSN, mtu),
        Endpoint.ALL,
        new ConnectionAttributes(kind.ackTimeout(), retries, rnrRetries, 14, 4, 4, 0));
    ask(
        "connect %d %s %d %d %d %d %d %d %d 14",
        guestQueuePair,
        own.hca(),
        own.number(),
        own.startPsn(),
        GUEST_PSN,
        mtu,
        kind.ackTimeout(),
        retries,
        rnrRetries);
  }

  @AfterEach
  void disconnect() {
    faults.none();
    if (connected) {
      ask("destroy %d", guestQueuePair);
      end.close();
      connected = false;
    }
  }

  private static byte[] pattern(int bytes, int seed) {
    byte[] pattern = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      pattern[i] = (byte) ((i * 7 + seed) % 251);
    }
    return pattern;
  }

  private EndpointWqe remote(int opcode, long offset) {
    return end.wqe(opcode).remote(guestMemory + offset, guestKey);
  }

  private void assertSent(int opcode) {
    Endpoint.Completion completion = end.pollSend();
    assertThat(completion.opcode()).as("%s", completion).isEqualTo(Cqe.REQUESTER);
    assertThat(completion.wqeOpcode()).isEqualTo(opcode);
  }

  private void assertGuestCompletion(int status, int bytes, int immediate) {
    String[] words = ask("poll 20000").split(" ", -1);
    assertThat(words[0]).isEqualTo("wc");
    assertThat(Integer.parseInt(words[1])).isEqualTo(guestQueuePair);
    assertThat(Integer.parseInt(words[2])).as("ibv_wc_status").isEqualTo(status);
    if (bytes >= 0) {
      assertThat(Integer.parseInt(words[4])).isEqualTo(bytes);
      assertThat(Integer.parseUnsignedInt(words[5])).isEqualTo(immediate);
    }
  }

  private void assertGuestHas(int offset, int bytes, int seed) {
    assertThat(ask("check %d %d %d", offset, bytes, seed)).isEqualTo("ok");
  }

  private void guestPosts(String op, int offset, int bytes, long ours, int key) {
    guestPosts(op, offset, bytes, ours, key, 0, 0, 0);
  }

  private void guestPosts(
      String op, int offset, int bytes, long ours, int key, int imm, long add, long swap) {
    ask(
        "post %d %s %d %d %d %s %s %d %d",
        guestQueuePair,
        op,
        offset,
        bytes,
        end.address(ours),
        Integer.toUnsignedString(key),
        Integer.toUnsignedString(imm),
        add,
        swap);
  }

  // We ask, Linux answers.

  @ParameterizedTest
  @CsvSource({"1024, 1", "1024, 1024", "1024, 2500", "4096, 4097", "4096, 100000", "256, 700"})
  void our_write_arrives(int mtu, int bytes) {
    connect(mtu);
    end.buffer.putBytes(0, pattern(bytes, 5));
    remote(Opcode.RDMA_WRITE, 64).local(0, bytes).post();
    assertSent(Opcode.RDMA_WRITE);
    assertGuestHas(64, bytes, 5);
  }

  @ParameterizedTest
  @ValueSource(ints = {1024, 4096})
  void our_write_with_immediate_tells_the_receiver(int mtu) {
    connect(mtu);
    ask("recv %d 0 64", guestQueuePair);
    end.buffer.putBytes(0, pattern(5_000, 9));
    remote(Opcode.RDMA_WRITE_IMM, 128).local(0, 5_000).immediate(0xcafebabe).post();
    assertSent(Opcode.RDMA_WRITE_IMM);
    assertGuestCompletion(SUCCESS, 5_000, 0xcafebabe);
    assertGuestHas(128, 5_000, 9);
  }

  @ParameterizedTest
  @ValueSource(ints = {1024, 4096})
  void our_send_fills_a_receive(int mtu) {
    connect(mtu);
    ask("recv %d 256 20000", guestQueuePair);
    end.buffer.putBytes(0, pattern(9_001, 11));
    end.wqe(Opcode.SEND_IMM).local(0, 9_001).immediate(7).post();
    assertSent(Opcode.SEND_IMM);
    assertGuestCompletion(SUCCESS, 9_001, 7);
    assertGuestHas(256, 9_001, 11);
  }

  @ParameterizedTest
  @CsvSource({"1024, 2500", "4096, 4096", "4096, 60001"})
  void our_read_brings_what_is_there(int mtu, int bytes) {
    connect(mtu);
    ask("fill 0 %d 13", bytes);
    remote(Opcode.RDMA_READ, 0).local(0, bytes).post();
    assertSent(Opcode.RDMA_READ);
    assertThat(end.buffer.getBytes(0, bytes)).isEqualTo(pattern(bytes, 13));
  }

  @Test
  void our_atomics_change_a_cell_once() {
    connect(1024);
    ask("set 512 40");
    remote(Opcode.ATOMIC_FA, 512).atomic(2, 0).local(0, 8).post();
    assertSent(Opcode.ATOMIC_FA);
    assertThat(end.buffer.getLong(0)).isEqualTo(40);
    remote(Opcode.ATOMIC_CS, 512).atomic(99, 42).local(8, 8).post();
    assertSent(Opcode.ATOMIC_CS);
    assertThat(end.buffer.getLong(8)).isEqualTo(42);
    assertThat(ask("get 512")).isEqualTo("value 99");
  }

  @Test
  void our_atomic_whose_answer_is_lost_is_answered_again_and_not_done_again() {
    connect(1024);
    ask("set 512 40");
    faults.dropArriving(1, packet -> packet.opcode == BthOpcode.ATOMIC_ACKNOWLEDGE);
    remote(Opcode.ATOMIC_FA, 512).atomic(2, 0).local(0, 8).post();
    assertSent(Opcode.ATOMIC_FA);
    assertThat(faults.dropped).isEqualTo(1);
    assertThat(end.buffer.getLong(0)).isEqualTo(40);
    assertThat(ask("get 512")).isEqualTo("value 42");
  }

  private void assertFailed(int syndrome) {
    Endpoint.Completion completion = end.pollSend();
    assertThat(completion.opcode()).as("%s", completion).isEqualTo(Cqe.REQUESTER_ERROR);
    assertThat(completion.syndrome()).isEqualTo(syndrome);
    assertThat(end.queuePair.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void our_wrong_key_is_refused() {
    connect(1024);
    end.wqe(Opcode.RDMA_WRITE).remote(guestMemory, guestKey ^ 0x5500).local(0, 64).post();
    assertFailed(Syndrome.REMOTE_ACCESS);
  }

  @Test
  void our_lost_packet_is_asked_for_and_sent_again() {
    connect(1024);
    end.buffer.putBytes(0, pattern(4_000, 17));
    faults.dropLeaving(1, packet -> packet.opcode == BthOpcode.WRITE_MIDDLE);
    remote(Opcode.RDMA_WRITE, 0).local(0, 4_000).post();
    assertSent(Opcode.RDMA_WRITE);
    assertThat(faults.dropped).isEqualTo(1);
    assertGuestHas(0, 4_000, 17);
  }

  @Test
  void our_write_whose_ack_is_lost_ends_after_the_timeout() {
    connect(1024);
    end.buffer.putBytes(0, pattern(100, 19));
    faults.dropArriving(1, packet -> packet.opcode == BthOpcode.ACKNOWLEDGE);
    remote(Opcode.RDMA_WRITE, 0).local(0, 100).post();
    assertSent(Opcode.RDMA_WRITE);
    assertThat(faults.dropped).isEqualTo(1);
    assertGuestHas(0, 100, 19);
  }

  @Test
  void our_send_waits_until_the_receiver_is_ready() {
    connect(1024);
    end.buffer.putBytes(0, pattern(2_000, 23));
    end.wqe(Opcode.SEND).local(0, 2_000).post();
    ask("poll 50");
    ask("recv %d 0 4096", guestQueuePair);
    assertSent(Opcode.SEND);
    assertGuestCompletion(SUCCESS, 2_000, 0);
    assertGuestHas(0, 2_000, 23);
  }

  @Test
  void our_send_gives_up_on_a_receiver_that_is_never_ready() {
    connect(1024, 7, 1);
    end.wqe(Opcode.SEND).local(0, 100).post();
    assertFailed(Syndrome.RNR_RETRY_EXCEEDED);
  }

  @Test
  void our_write_gives_up_on_a_peer_that_never_answers() {
    connect(1024, 2, 7);
    faults.dropLeaving(Integer.MAX_VALUE, packet -> true);
    remote(Opcode.RDMA_WRITE, 0).local(0, 100).post();
    assertFailed(Syndrome.TRANSPORT_RETRY_EXCEEDED);
    assertThat(faults.dropped).isEqualTo(3);
  }

  // Linux asks, we answer.

  @ParameterizedTest
  @CsvSource({"1024, 1", "1024, 2500", "4096, 4097", "4096, 100000"})
  void linux_write_arrives(int mtu, int bytes) {
    connect(mtu);
    ask("fill 0 %d 29", bytes);
    guestPosts("write", 0, bytes, 64, end.region.rkey());
    assertGuestCompletion(SUCCESS, -1, 0);
    assertThat(end.buffer.getBytes(64, bytes)).isEqualTo(pattern(bytes, 29));
  }

  @ParameterizedTest
  @ValueSource(ints = {1024, 4096})
  void linux_write_with_immediate_tells_us(int mtu) {
    connect(mtu);
    end.postReceive(0, 64);
    ask("fill 0 5000 31");
    guestPosts("write_imm", 0, 5_000, 128, end.region.rkey(), 0x12345678, 0, 0);
    assertGuestCompletion(SUCCESS, -1, 0);
    Endpoint.Completion completion = end.pollReceive();
    assertThat(completion.opcode()).isEqualTo(Cqe.RESPONDER_WRITE_IMM);
    assertThat(completion.immediate()).isEqualTo(0x12345678);
    assertThat(completion.bytes()).isEqualTo(5_000);
    assertThat(end.buffer.getBytes(128, 5_000)).isEqualTo(pattern(5_000, 31));
  }

  @ParameterizedTest
  @ValueSource(ints = {1024, 4096})
  void linux_send_fills_our_receive(int mtu) {
    connect(mtu);
    end.postReceive(0, 20_000);
    ask("fill 0 9001 37");
    guestPosts("send", 0, 9_001, 0, 0);
    assertGuestCompletion(SUCCESS, -1, 0);
    assertThat(end.pollReceive().bytes()).isEqualTo(9_001);
    assertThat(end.buffer.getBytes(0, 9_001)).isEqualTo(pattern(9_001, 37));
  }

  @ParameterizedTest
  @CsvSource({"1024, 2500", "4096, 4096", "4096, 60001"})
  void linux_read_brings_what_we_have(int mtu, int bytes) {
    connect(mtu);
    end.buffer.putBytes(64, pattern(bytes, 41));
    guestPosts("read", 0, bytes, 64, end.region.rkey());
    assertGuestCompletion(SUCCESS, -1, 0);
    assertGuestHas(0, bytes, 41);
  }

  @Test
  void linux_atomics_change_our_cell_once() {
    connect(1024);
    end.buffer.putLong(512, 40);
    guestPosts("faa", 0, 8, 512, end.region.rkey(), 0, 2, 0);
    assertGuestCompletion(SUCCESS, -1, 0);
    assertThat(ask("get 0")).isEqualTo("value 40");
    // The answer is lost: the same request comes again and is answered from memory.
    faults.dropLeaving(1, packet -> packet.opcode == BthOpcode.ATOMIC_ACKNOWLEDGE);
    guestPosts("cas", 8, 8, 512, end.region.rkey(), 0, 42, 99);
    assertGuestCompletion(SUCCESS, -1, 0);
    assertThat(faults.dropped).isEqualTo(1);
    assertThat(ask("get 8")).isEqualTo("value 42");
    assertThat(end.buffer.getLong(512)).isEqualTo(99);
  }

  @Test
  void linux_wrong_key_is_refused_by_us() {
    connect(1024);
    guestPosts("write", 0, 64, 0, end.region.rkey() ^ 0x5500);
    assertGuestCompletion(REMOTE_ACCESS_ERROR, -1, 0);
    assertThat(end.queuePair.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void linux_lost_packet_is_asked_for_by_us() {
    connect(1024);
    ask("fill 0 4000 43");
    faults.dropArriving(1, packet -> packet.opcode == BthOpcode.WRITE_MIDDLE);
    guestPosts("write", 0, 4_000, 0, end.region.rkey());
    assertGuestCompletion(SUCCESS, -1, 0);
    assertThat(faults.dropped).isEqualTo(1);
    assertThat(end.buffer.getBytes(0, 4_000)).isEqualTo(pattern(4_000, 43));
  }

  @Test
  void linux_write_whose_ack_is_lost_is_acknowledged_again() {
    connect(1024);
    ask("fill 0 100 47");
    faults.dropLeaving(1, packet -> packet.opcode == BthOpcode.ACKNOWLEDGE);
    guestPosts("write", 0, 100, 0, end.region.rkey());
    assertGuestCompletion(SUCCESS, -1, 0);
    assertThat(faults.dropped).isEqualTo(1);
    assertThat(end.buffer.getBytes(0, 100)).isEqualTo(pattern(100, 47));
  }

  @Test
  void linux_send_waits_until_we_are_ready() {
    connect(1024);
    ask("fill 0 2000 53");
    guestPosts("send", 0, 2_000, 0, 0);
    ask("poll 50");
    end.postReceive(0, 4_096);
    assertGuestCompletion(SUCCESS, -1, 0);
    assertThat(end.pollReceive().bytes()).isEqualTo(2_000);
    assertThat(end.buffer.getBytes(0, 2_000)).isEqualTo(pattern(2_000, 53));
  }

  @Test
  void linux_send_gives_up_on_us() {
    connect(1024, 7, 1);
    guestPosts("send", 0, 100, 0, 0);
    assertGuestCompletion(RNR_RETRY_EXCEEDED, -1, 0);
  }

  @Test
  void linux_write_gives_up_on_our_silence() {
    connect(1024, 2, 7);
    faults.dropArriving(Integer.MAX_VALUE, packet -> true);
    guestPosts("write", 0, 100, 0, end.region.rkey());
    assertGuestCompletion(RETRY_EXCEEDED, -1, 0);
    assertThat(faults.dropped).isEqualTo(3);
  }
}
