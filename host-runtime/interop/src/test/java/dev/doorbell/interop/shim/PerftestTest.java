package dev.doorbell.interop.shim;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Debian's perftest, two processes each. */
final class PerftestTest {
  @TempDir private Path folder;

  @Test
  void bandwidth_of_writes_is_measured_on_several_queue_pairs() throws Exception {
    run("ib_write_bw -q 8 -n 20");
  }

  @Test
  void latency_of_inline_writes_is_measured() throws Exception {
    run("ib_write_lat -I 64 -s 64 -n 5");
  }

  @ParameterizedTest
  @Tag("slow")
  @ValueSource(
      strings = {
        "ib_write_bw -a -n 10",
        "ib_write_bw -b -q 8 -n 20 -s 4096",
        "ib_write_bw -I 64 -s 64 -n 50",
        "ib_write_bw -I 220 -s 220 -q 8 -n 50",
        "ib_write_bw -c UC -n 20",
        "ib_write_lat -a -n 5",
        "ib_write_lat -I 0 -s 64 -n 5",
        "ib_read_bw -a -n 10",
        "ib_read_bw -b -q 8 -n 20",
        "ib_read_lat -a -n 5",
        "ib_send_bw -a -n 10",
        "ib_send_bw -b -q 8 -n 20 -s 4096",
        "ib_send_bw -I 64 -s 64 -n 50",
        "ib_send_bw -e -n 50",
        "ib_send_bw -c UC -n 20",
        "ib_send_bw -c UD -s 2048 -n 20",
        "ib_send_lat -a -n 5",
        "ib_atomic_bw -n 50",
        "ib_atomic_bw -b -q 8 -n 20 -A CMP_AND_SWAP",
        "ib_atomic_lat -n 5",
      })
  void every_program_runs_with_all_sizes_several_queue_pairs_and_both_ways(String command)
      throws Exception {
    run(command);
  }

  private void run(String command) throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      devices.pair((command + " -x 0 -F").split(" "));
      devices.awaitNobody();
    }
  }
}
