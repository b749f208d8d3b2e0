package dev.doorbell.interop.shim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.roce.BthOpcode;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tools of rdma-core and iproute2 see the devices, and what happens to them. */
final class ToolsTest {
  private static final String PORT = "/sys/class/infiniband/mlx5_0/ports/1";

  @TempDir private Path folder;

  private static long value(String counters, String name) {
    String[] words = counters.trim().split(" ");
    return Long.parseLong(words[List.of(words).indexOf(name) + 1]);
  }

  private static String said(ServedDevices devices, String... command) throws Exception {
    return devices.start(command).succeed();
  }

  @Test
  void the_files_of_a_port_say_its_state() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1)) {
      assertThat(said(devices, "cat", PORT + "/state", PORT + "/sm_lid"))
          .isEqualTo("4: ACTIVE\n0x0\n");
      // A relative name from a working directory in sysfs.
      assertThat(said(devices, "bash", "-c", "cd " + PORT + " && pwd && cat counters/link_downed"))
          .isEqualTo(PORT + "\n0\n");
    }
  }

  @Test
  void rdma_netlink_shows_devices_links_and_objects() throws Exception {
    ServedDevices.requireProgram("rdma");
    try (ServedDevices devices = ServedDevices.start(folder, 2)) {
      assertThat(said(devices, "rdma", "dev"))
          .contains("0: mlx5_0: node_type ca")
          .contains("1: mlx5_1: node_type ca");
      assertThat(said(devices, "rdma", "-j", "link", "show", "mlx5_1/1"))
          .contains("\"ifname\":\"mlx5_1\"")
          .contains("\"state\":\"ACTIVE\"")
          .doesNotContain("mlx5_0");
      assertThat(said(devices, "rdma", "resource")).contains("mlx5_0: pd 0 cq 0 qp 0");
    }
  }

  @Test
  void a_hundred_losses_are_a_hundred_errors_of_sequence() throws Exception {
    ServedDevices.requireProgram("rdma");
    ServedDevices.requireProgram("ib_write_bw");
    FaultTrigger hundred = new FaultTrigger(0, Long.MAX_VALUE, 41, 1, 0, 100);
    Fault lose =
        Fault.of(FaultAction.LOSE, FaultEvent.PACKET_SENT, hundred)
            .onOpcode(BthOpcode.WRITE_MIDDLE);
    ShimOptions options =
        new ShimOptions(1, List.of(), Adapter.DEFAULT, new FaultPlan(1, List.of(lose)), null);
    try (ServedDevices devices = ServedDevices.start(folder, options)) {
      // One message of 16 packets at a time: each loss is repaired before the next.
      devices.pair("ib_write_bw", "-x", "0", "-F", "-s", "65536", "-t", "1", "-n", "400");
      String counters = said(devices, "rdma", "statistic");
      assertThat(value(counters, "packet_seq_err")).as(counters).isEqualTo(100);
      assertThat(value(counters, "roce_adp_retrans")).as(counters).isZero();
      assertThat(value(counters, "local_ack_timeout_err")).as(counters).isZero();
    }
  }

  @Test
  void a_connection_that_says_nothing_is_closed_after_a_second() throws Exception {
    try (ServedDevices devices = ServedDevices.start(folder, 1);
        SocketChannel silent = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      silent.connect(UnixDomainSocketAddress.of(devices.server().folder().resolve("socket")));
      silent.write(ByteBuffer.allocate(7));
      assertThat(silent.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }
  }
}
