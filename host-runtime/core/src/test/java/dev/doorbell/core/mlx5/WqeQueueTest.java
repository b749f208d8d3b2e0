package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kind of queue that a WQE says by its bytes. */
class WqeQueueTest {
  /** A global route to ::ffff:10.0.0.2, and 4 KiB of data. */
  private static final String ROUTE_AND_DATA =
      "00000000 02000000 00026840 40000003 00000000 00000000 0000ffff 0a000002"
          + " 00001000 00001234 00007f10 00002000";

  private static byte[] send(String key, String number, String rest) {
    int units = 2 + rest.replace(" ", "").length() / 32;
    String wqe =
        "0000050a 01203a%02x 00000008 00000000 %s %s 0000c123 %s"
            .formatted(units, key, number, rest);
    return HexFormat.of().parseHex(wqe.replace(" ", ""));
  }

  @ParameterizedTest
  @ValueSource(strings = {"11111111 00000000", "80010000 00000000"})
  void a_queue_key_is_that_of_datagrams(String key) {
    assertThat(WqeQueue.fitting(send(key, "80000abc", ROUTE_AND_DATA)))
        .startsWith(WqeQueue.UD)
        .contains(WqeQueue.DC);
  }

  @ParameterizedTest
  @ValueSource(strings = {"00000000 deadbeef", "11112222 33334444"})
  void an_access_key_of_64_bits_is_that_of_dc(String key) {
    assertThat(WqeQueue.fitting(send(key, "80000abc", ROUTE_AND_DATA)))
        .startsWith(WqeQueue.DC)
        .contains(WqeQueue.UD);
  }

  @Test
  void a_write_is_no_datagram() {
    byte[] wqe = send("11111111 00000000", "80000abc", "0".repeat(64) + ROUTE_AND_DATA);
    wqe[3] = 8;
    assertThat(WqeQueue.fitting(wqe)).doesNotContain(WqeQueue.UD, WqeQueue.ETH);
  }
}
