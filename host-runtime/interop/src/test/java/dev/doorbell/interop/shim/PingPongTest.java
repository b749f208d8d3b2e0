package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The example programs of libibverbs, as Debian has them, two processes each. With {@code -c} they
 * check every byte that they receive.
 */
final class PingPongTest {
  @TempDir private Path folder;

  @Test
  void a_program_sees_the_devices_with_their_port_and_gid() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 2)) {
      String said = devices.start("ibv_devinfo", "-v").succeed();
      assertThat(said)
          .contains("hca_id:\tmlx5_0", "hca_id:\tmlx5_1", "PORT_ACTIVE", "ATOMIC_HCA", "RoCE v2")
          .contains("link_layer:\t\tEthernet");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ibv_rc_pingpong -c -e -n 300",
        "ibv_rc_pingpong -c -n 5 -s 65536",
        "ibv_uc_pingpong -c -e -n 300",
        "ibv_ud_pingpong -c -e -n 300 -s 1024",
        "ibv_srq_pingpong -c -e -n 300",
      })
  void two_programs_play_ping_pong_and_check_what_they_get(String command)
      throws IOException, InterruptedException {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      devices.pair((command + " -g 0").split(" "));
      devices.awaitNobody();
    }
  }
}
