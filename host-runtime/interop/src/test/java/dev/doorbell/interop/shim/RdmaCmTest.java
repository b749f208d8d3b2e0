package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs that connect by rdma_cm. */
final class RdmaCmTest {
  private static final int ATTEMPTS = 50;
  private static final long PAUSE_MILLIS = 20;

  @TempDir private Path folder;

  @Test
  void the_file_is_that_of_a_kernel() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      Path program = devices.compile("connections.c", "-pthread");
      assertThat(devices.start(program.toString()).succeed()).isEqualTo("ok\n");
      devices.awaitNobody();
    }
  }

  @Test
  void rping_reads_and_writes_between_two_devices() throws Exception {
    run("rping -s -C 3 -p PORT", "rping -c -a 127.0.0.2 -I 127.0.0.1 -C 3 -p PORT");
  }

  @ParameterizedTest
  @Tag("slow")
  @CsvSource({
    "ucmatose -p PORT, ucmatose -s 127.0.0.1 -p PORT",
    "udaddy, udaddy -s 127.0.0.1",
    "rdma_server -p PORT, rdma_client -s 127.0.0.1 -p PORT",
    "rdma_xserver -p PORT, rdma_xclient -s 127.0.0.1 -p PORT",
    "rstream -S 4096 -C 20 -p PORT, rstream -s 127.0.0.1 -S 4096 -C 20 -p PORT",
    "ib_send_bw -R -n 50 -F -p PORT, ib_send_bw -R -n 50 -F -p PORT 127.0.0.1",
  })
  void programs_connect_and_check_what_they_get(String waiting, String client) throws Exception {
    run(waiting, client);
  }

  @Test
  void a_program_sees_that_its_peer_has_been_killed() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      String port = String.valueOf(ServedDevices.freePort());
      ServedDevices.Program waiting = devices.start("rping", "-s", "-p", port);
      ServedDevices.Program client =
          connect(devices, "rping -c -v -a 127.0.0.1 -p " + port, "ping data");
      assertThat(client.process.isAlive()).as(client.said()).isTrue();
      waiting.process.destroyForcibly().waitFor();
      assertThat(client.process.waitFor(60, TimeUnit.SECONDS)).as(client.said()).isTrue();
      assertThat(client.said()).contains("DISCONNECT EVENT");
      devices.awaitNobody();
    }
  }

  private void run(String waiting, String client) throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 2)) {
      String port = String.valueOf(ServedDevices.freePort());
      ServedDevices.Program first = devices.start(waiting.replace("PORT", port).split(" "));
      ServedDevices.Program second = connect(devices, client.replace("PORT", port), "\0");
      second.succeed();
      first.succeed();
      devices.awaitNobody();
    }
  }

  /** Runs the client, again while nobody listens yet, until it has said a word or has succeeded. */
  private static ServedDevices.Program connect(ServedDevices devices, String words, String word)
      throws Exception {
    for (int attempt = 0; ; attempt++) {
      ServedDevices.Program client = devices.start(words.split(" "));
      while (!client.process.waitFor(PAUSE_MILLIS, TimeUnit.MILLISECONDS)) {
        if (client.said().contains(word)) {
          return client;
        }
      }
      if (client.process.exitValue() == 0 || attempt == ATTEMPTS) {
        return client;
      }
    }
  }
}
