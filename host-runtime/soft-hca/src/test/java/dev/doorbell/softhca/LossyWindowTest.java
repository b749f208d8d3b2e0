package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.softhca.device.SoftHcaOptions;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How much is sent to a peer that is silent, and what a wire of few packets makes of messages. */
class LossyWindowTest {
  private static final int MTU = 256;
  private static final int WINDOW = 16;

  /** READ requests per window. */
  private static final int STRIDES = 4;

  /** Packets that a timeout leaves of the window. */
  private static final int SMALLEST = 8;

  private static final int STRIDE = WINDOW / STRIDES;
  private static final long FIRST_RETRY = 100_000;
  private static final long TIMEOUT_14 = 4_096L << 14;
  private static final Endpoint.Shape USUAL = Endpoint.Shape.usual();

  private final SteppedWorld world =
      new SteppedWorld(
          SoftHcaOptions.DEFAULT.withEngine(
              new SoftHcaOptions.Engine(MTU, 64, 32, 1024).withFirstRetry(FIRST_RETRY)));
  private Endpoint a;
  private Endpoint b;

  @BeforeEach
  void connect() {
    world.wire.window = WINDOW;
    a = new Endpoint(world, 0, USUAL);
    b = new Endpoint(world, 1, USUAL);
    Endpoint.connect(a, b, new ConnectionAttributes(14, 2, 7, 12, 16, 16, 0));
  }

  @AfterEach
  void close() {
    world.close();
  }

  private static byte[] fill(Endpoint end, int bytes) {
    byte[] payload = new byte[bytes];
    new Random(bytes).nextBytes(payload);
    end.buffer.putBytes(0, payload);
    return payload;
  }

  private long count(int opcode) {
    return world.wire.opcodes.stream().filter(one -> one == opcode).count();
  }

  private void read(int packets) {
    a.wqe(Opcode.RDMA_READ)
        .remote(b.address(0), b.region.rkey())
        .local(30_000, packets * MTU)
        .post();
  }

  @Test
  void a_read_of_more_than_the_window_is_asked_for_in_parts_that_fit_into_it() {
    byte[] payload = fill(b, 40 * MTU);
    read(40);
    assertThat(a.pollSend().isError()).isFalse();
    assertThat(a.buffer.getBytes(30_000, 40 * MTU)).isEqualTo(payload);
    assertThat(count(BthOpcode.READ_REQUEST)).isEqualTo(40 / STRIDE);
    int asked = 0;
    for (int opcode : world.wire.opcodes) {
      asked += opcode == BthOpcode.READ_REQUEST ? STRIDE : -1;
      assertThat(asked).isBetween(0, WINDOW);
    }
  }

  @Test
  void of_a_part_whose_answer_was_lost_the_rest_is_asked_for_and_not_more() {
    byte[] payload = fill(b, 40 * MTU);
    // The second answer to the second request of the READ.
    int[] answers = {0};
    world.wire.lose(
        number -> BthOpcode.isResponse(world.wire.opcodes.getLast()) && ++answers[0] == STRIDE + 2);
    read(40);
    assertThat(a.pollSend().isError()).isFalse();
    assertThat(a.buffer.getBytes(30_000, 40 * MTU)).isEqualTo(payload);
    int first = world.wire.psns.getFirst();
    List<Integer> asked =
        IntStream.range(0, world.wire.opcodes.size())
            .filter(i -> world.wire.opcodes.get(i) == BthOpcode.READ_REQUEST)
            .mapToObj(i -> world.wire.psns.get(i) - first & 0xffffff)
            .toList();
    assertThat(asked).contains(STRIDE + 1);
    assertThat(asked.stream().filter(psn -> psn % STRIDE != 0)).containsOnly(STRIDE + 1);
  }

  /** Without that, each loss costs all packets behind it. */
  @Test
  void an_answer_ends_where_the_rest_of_it_is_asked_for_again() {
    int packets = 2_000;
    int lost = 10;
    int pool = 64;
    int bytes = packets * MTU;
    try (SteppedWorld few =
        new SteppedWorld(
            SoftHcaOptions.DEFAULT.withEngine(
                new SoftHcaOptions.Engine(MTU, 64, 32, pool).withFirstRetry(FIRST_RETRY)))) {
      Endpoint reader = new Endpoint(few, 0, USUAL);
      Endpoint owner = new Endpoint(few, 1, USUAL);
      Endpoint.connect(reader, owner, new ConnectionAttributes(14, 2, 7, 12, 16, 16, 0));
      byte[] payload = fill(owner, bytes);
      int[] answers = {0};
      few.wire.lose(
          number -> BthOpcode.isResponse(few.wire.opcodes.getLast()) && ++answers[0] % 200 == lost);
      reader
          .wqe(Opcode.RDMA_READ)
          .remote(owner.address(0), owner.region.rkey())
          .local(bytes, bytes)
          .post();
      assertThat(reader.pollSend().isError()).isFalse();
      assertThat(reader.buffer.getBytes(bytes, bytes)).isEqualTo(payload);
      assertThat(answers[0]).isBetween(packets, packets * 2);
    }
  }

  @Test
  void a_silent_peer_gets_a_few_packets_again_after_longer_and_longer_waits() {
    world.wire.lose(number -> true);
    long start = world.fabric.now();
    a.rdmaWrite(b, 0, 0, 60 * MTU).post();
    assertThat(a.pollSend().syndrome()).isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
    // 0.1, 0.2 ... 51.2 ms are less than the timeout and cost no retry; then two retries.
    int free = 10;
    assertThat(world.wire.opcodes).hasSize(WINDOW + (free + 2) * SMALLEST);
    long shorter = ((1L << free) - 1) * FIRST_RETRY;
    assertThat(world.fabric.now() - start).isEqualTo(shorter + 3 * TIMEOUT_14);
  }

  @Test
  void what_was_acknowledged_meanwhile_is_not_sent_again() {
    int[] losses = {1};
    world.wire.lose(
        number ->
            world.wire.opcodes.getLast() == BthOpcode.ACKNOWLEDGE
                && world.wire.psns.getLast() == lastOf(WINDOW)
                && losses[0]-- > 0);
    a.rdmaWrite(b, 0, 0, WINDOW * MTU).post();
    assertThat(a.pollSend().isError()).isFalse();
    assertThat(losses[0]).isLessThanOrEqualTo(0);
    long writes = world.wire.opcodes.stream().filter(one -> one != BthOpcode.ACKNOWLEDGE).count();
    // All of them once, a few again; their acknowledgement is one of everything.
    assertThat(writes).isEqualTo(WINDOW + SMALLEST);
  }

  private int lastOf(int packets) {
    return world.wire.psns.getFirst() + packets - 1 & 0xffffff;
  }
}
