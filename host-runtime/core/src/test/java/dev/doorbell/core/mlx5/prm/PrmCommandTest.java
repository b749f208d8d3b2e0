package dev.doorbell.core.mlx5.prm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.mlx5.prm.generated.CommandHeader;
import dev.doorbell.core.mlx5.prm.generated.CompletionQueueContext;
import dev.doorbell.core.mlx5.prm.generated.QueuePairContext;
import dev.doorbell.core.mlx5.prm.generated.SharedReceiveContext;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Our commands against those that Linux's own header makes. */
class PrmCommandTest {
  private static final int QPN = 0xabcdef;
  private static final Umem RING = new Umem(0x11223344, 0x99aabbccddeeff00L);
  private static final Umem RECORD = new Umem(0x55667788, 0x1122334455667788L);
  private static final Map<String, String> VECTORS = vectors();

  private static Map<String, String> vectors() {
    Map<String, String> vectors = new TreeMap<>();
    try (InputStream in =
        Objects.requireNonNull(PrmCommandTest.class.getResourceAsStream("commands.txt"))) {
      new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split(" ", -1))
          .forEach(words -> vectors.put(words[0], words[1]));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return vectors;
  }

  private static void assertSame(PrmBuffer command, String vector) {
    assertThat(HexFormat.of().formatHex(command.content())).isEqualTo(VECTORS.get(vector));
  }

  private static PrmBuffer read(String vector) {
    return new PrmBuffer(HexFormat.of().parseHex(Objects.requireNonNull(VECTORS.get(vector))));
  }

  @Test
  void create_completion_queue() {
    assertSame(
        CompletionQueueCommand.create(9, true, true, 0x123456, 0x21, RING, RECORD), "create_cq");
  }

  @Test
  void create_queue_pair() {
    assertSame(
        QueuePairCommand.create(
                new QueuePairCommand.Shape(QPN, 0x123456, 7, 4, 0x654321, 0x112233, RING, RECORD))
            .put(QueuePairContext.SERVICE_TYPE, QueuePairContext.UC),
        "create_qp");
  }

  @Test
  void create_queue_pair_without_receives() {
    Umem nothing = new Umem(0, 0);
    assertSame(
        QueuePairCommand.create(new QueuePairCommand.Shape(0, 0, 0, -1, 0, 0, nothing, nothing)),
        "create_qp_without_receives");
  }

  @Test
  void a_server_reads_the_fields_of_a_queue_pair_for_datagrams() {
    PrmBuffer create = read("create_qp_ud_shared");
    assertThat(create.get(QueuePairContext.SERVICE_TYPE)).isEqualTo(QueuePairContext.UD);
    assertThat(create.get(QueuePairContext.RQ_TYPE)).isEqualTo(QueuePairContext.SHARED_RECEIVES);
    assertThat(create.get(QueuePairContext.SRQN_RMPN)).isEqualTo(0x456789);
    assertThat(read("init2rtr_ud").get(QueuePairContext.Q_KEY)).isEqualTo(0x11223344);
    assertThat(read("rtr2rts_ud").get(QueuePairContext.NEXT_SEND_PSN)).isEqualTo(0x654321);
  }

  @Test
  void reset_to_init() {
    assertSame(QueuePairCommand.toInit(QPN, 2, true, true, true), "rst2init");
  }

  @Test
  void init_to_rtr_on_ethernet() {
    RoutePath path =
        new RoutePath(
            true, 1, 3, 0, 0x0000_ffff_0a00_0002L, 0, 0x0c42_a1fa_4e00L, 0x6a, 255, 0xc123);
    assertSame(QueuePairCommand.toRtr(QPN, 0x123456, 0x654321, 5, 12, 4, path), "init2rtr_roce");
  }

  @Test
  void init_to_rtr_on_infiniband() {
    RoutePath path = new RoutePath(false, 1, 0, 0xfe80L << 48, 1, 0x1234, 0, 0x6a, 255, 0xc123);
    assertSame(QueuePairCommand.toRtr(QPN, 0x123456, 0x654321, 5, 12, 4, path), "init2rtr_ib");
  }

  @Test
  void rtr_to_rts() {
    assertSame(QueuePairCommand.toRts(QPN, 0x654321, 20, 7, 6, 4), "rtr2rts");
  }

  @Test
  void to_error_and_to_reset() {
    assertThat(VECTORS.get("2err"))
        .isEqualTo(HexFormat.of().formatHex(QueuePairCommand.toError(QPN).content(), 0, 16));
    assertThat(VECTORS.get("2rst"))
        .isEqualTo(HexFormat.of().formatHex(QueuePairCommand.toReset(QPN).content(), 0, 16));
  }

  @Test
  void queries_and_their_answers() {
    assertSame(QueuePairCommand.query(QPN), "query_qp");
    assertThat(QueuePairCommand.state(read("query_qp_out"))).isEqualTo(6);
    assertSame(Capabilities.query(), "query_hca_cap");
    Capabilities capabilities = new Capabilities(read("query_hca_cap_out"));
    assertThat(capabilities.logLargestQueue()).isEqualTo(15);
    assertThat(capabilities.logLargestCompletionQueue()).isEqualTo(22);
  }

  @Test
  void a_value_that_its_field_cannot_hold_is_refused() {
    assertThatThrownBy(() -> new PrmBuffer(16).put(new PrmField(4, 5, 3), 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bits 5 to 3");
    assertThat(new PrmBuffer(16).put(new PrmField(4, 5, 3), 7).content()[7]).isEqualTo((byte) 0x38);
  }

  @Test
  void a_refusal_is_described_in_words() {
    PrmBuffer answer =
        new PrmBuffer(16).put(CommandHeader.STATUS, 5).put(CommandHeader.SYNDROME, 0x7a0);
    assertThat(answer.statusText()).startsWith("status 0x5 (bad resource").endsWith("0x7a0");
  }

  @Test
  void a_server_reads_the_fields_of_a_queue_pair() {
    PrmBuffer create = read("create_qp");
    assertThat(create.get(CommandHeader.OPCODE)).isEqualTo(CommandHeader.CREATE_QP);
    assertThat(create.get(QueuePairContext.SERVICE_TYPE)).isEqualTo(QueuePairContext.UC);
    assertThat(create.get(QueuePairContext.PD)).isEqualTo(QPN);
    assertThat(create.get(QueuePairContext.UAR_PAGE)).isEqualTo(0x123456);
    assertThat(create.get(QueuePairContext.LOG_SQ_SIZE)).isEqualTo(7);
    assertThat(create.get(QueuePairContext.LOG_RQ_SIZE)).isEqualTo(4);
    assertThat(create.get(QueuePairContext.CQN_SND)).isEqualTo(0x654321);
    assertThat(create.get(QueuePairContext.CQN_RCV)).isEqualTo(0x112233);
    assertThat(create.get(QueuePairContext.WQ_UMEM_ID)).isEqualTo(RING.id());
    assertThat(create.getLong(QueuePairContext.WQ_UMEM_OFFSET_OFFSET)).isEqualTo(RING.offset());
    assertThat(create.get(QueuePairContext.DBR_UMEM_ID)).isEqualTo(RECORD.id());
    assertThat(create.getLong(QueuePairContext.DBR_ADDR_OFFSET)).isEqualTo(RECORD.offset());
    PrmBuffer toInit = read("rst2init");
    assertThat(toInit.get(CommandHeader.NUMBER)).isEqualTo(QPN);
    assertThat(toInit.get(QueuePairContext.REMOTE_ACCESS)).isEqualTo(7);
    PrmBuffer toRtr = read("init2rtr_roce");
    assertThat(toRtr.get(QueuePairContext.REMOTE_QPN)).isEqualTo(0x123456);
    assertThat(toRtr.get(QueuePairContext.NEXT_RCV_PSN)).isEqualTo(0x654321);
    assertThat(toRtr.get(QueuePairContext.MTU)).isEqualTo(5);
    assertThat(toRtr.get(QueuePairContext.SRC_ADDR_INDEX)).isEqualTo(3);
    assertThat(toRtr.get(QueuePairContext.DSCP)).isEqualTo(0x6a >>> 2);
    assertThat(toRtr.getLong(QueuePairContext.RGID_LOW_OFFSET)).isEqualTo(0x0000_ffff_0a00_0002L);
    PrmBuffer toRts = read("rtr2rts");
    assertThat(toRts.get(QueuePairContext.ACK_TIMEOUT)).isEqualTo(20);
    assertThat(toRts.get(QueuePairContext.RETRY_COUNT)).isEqualTo(7);
    assertThat(toRts.get(QueuePairContext.RNR_RETRY)).isEqualTo(6);
    assertThat(toRts.get(QueuePairContext.LOG_SRA_MAX)).isEqualTo(4);
  }

  @Test
  void a_server_reads_the_fields_of_completion_and_shared_receive_queues() {
    PrmBuffer queue = read("create_cq");
    assertThat(queue.get(CompletionQueueContext.LOG_CQ_SIZE)).isEqualTo(9);
    assertThat(queue.isSet(CompletionQueueContext.COLLAPSED)).isTrue();
    assertThat(queue.get(CompletionQueueContext.CQE_SIZE)).isZero();
    assertThat(queue.get(CompletionQueueContext.CQ_UMEM_ID)).isEqualTo(RING.id());
    assertThat(queue.getLong(CompletionQueueContext.DBR_ADDR_OFFSET)).isEqualTo(RECORD.offset());
    PrmBuffer shared = read("create_rmp");
    assertThat(shared.get(SharedReceiveContext.STATE)).isEqualTo(SharedReceiveContext.READY);
    assertThat(shared.get(SharedReceiveContext.PD)).isEqualTo(QPN);
    assertThat(shared.get(SharedReceiveContext.LOG_WQ_SIZE)).isEqualTo(9);
    assertThat(shared.get(SharedReceiveContext.LOG_WQ_STRIDE)).isEqualTo(6);
    assertThat(read("modify_rmp").get(SharedReceiveContext.LWM)).isEqualTo(300);
  }

  @Test
  void fields_beyond_the_end_read_as_0_and_are_not_written() {
    PrmBuffer header = new PrmBuffer(PrmBuffer.HEADER_BYTES);
    assertThat(header.get(QueuePairContext.STATE)).isZero();
    assertThat(header.getLong(QueuePairContext.RGID_LOW_OFFSET)).isZero();
    header.put(QueuePairContext.STATE, 6).putLong(QueuePairContext.RGID_LOW_OFFSET, -1);
    assertThat(header.content()).containsOnly(0);
  }
}
