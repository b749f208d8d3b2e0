package dev.doorbell.verbs.prm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.hca.Transport;
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
    byte[] content = HexFormat.of().parseHex(Objects.requireNonNull(VECTORS.get(vector)));
    PrmBuffer buffer = new PrmBuffer(content.length);
    System.arraycopy(content, 0, buffer.content(), 0, content.length);
    return buffer;
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
            new QueuePairCommand.Shape(
                Transport.UC, QPN, 0x123456, 7, 4, -1, 0x654321, 0x112233, RING, RECORD)),
        "create_qp");
  }

  @Test
  void create_queue_pair_without_receives() {
    Umem nothing = new Umem(0, 0);
    assertSame(
        QueuePairCommand.create(
            new QueuePairCommand.Shape(Transport.RC, 0, 0, 0, -1, -1, 0, 0, nothing, nothing)),
        "create_qp_without_receives");
  }

  @Test
  void create_queue_pair_for_datagrams_with_shared_receives() {
    Umem nothing = new Umem(0, 0);
    assertSame(
        QueuePairCommand.create(
            new QueuePairCommand.Shape(
                Transport.UD, 0, 0, 0, -1, 0x456789, 0, 0, nothing, nothing)),
        "create_qp_ud_shared");
  }

  @Test
  void datagrams_to_rtr_and_rts() {
    assertSame(QueuePairCommand.toRtr(QPN, 1, 0x11223344), "init2rtr_ud");
    assertSame(QueuePairCommand.toRts(QPN, 0x654321), "rtr2rts_ud");
  }

  @Test
  void create_shared_receives_and_set_their_limit() {
    assertSame(SharedReceiveCommand.create(QPN, 9, 6, RING, RECORD), "create_rmp");
    assertSame(SharedReceiveCommand.limit(QPN, 300), "modify_rmp");
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
    assertThat(capabilities.logQueuePairs()).isEqualTo(17);
    assertThat(capabilities.logLargestCompletionQueue()).isEqualTo(22);
  }

  @Test
  void a_value_that_its_field_cannot_hold_is_refused() {
    assertThatThrownBy(() -> new PrmBuffer(16).put(4, 5, 3, 8))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("bits 5 to 3");
    assertThat(new PrmBuffer(16).put(4, 5, 3, 7).content()[7]).isEqualTo((byte) 0x38);
  }

  @Test
  void a_refusal_is_told_in_words() {
    PrmBuffer answer = new PrmBuffer(16).put(0, 31, 24, 0x5).put(4, 31, 0, 0x7a0);
    assertThat(answer.statusText()).startsWith("status 0x5 (bad resource").endsWith("0x7a0");
  }
}
