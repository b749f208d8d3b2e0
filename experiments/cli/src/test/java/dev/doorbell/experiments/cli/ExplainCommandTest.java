package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts of public reports, and what they are. */
class ExplainCommandTest {
  private static final String PASTED = "src/test/resources/dev/doorbell/experiments/cli/explain/";

  @TempDir private Path folder;
  private final Session session = new Session();

  private static String pasted(String name) {
    Path here = Path.of(PASTED, name);
    return (Files.exists(here) ? here : Path.of("cli", PASTED, name)).toString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "log-gdr-distance.txt | DB-LOG-200  NCCL  line 1; 1 of 1 lines recognised",
        "log-nccl-sourced.txt | 25 of 25 lines recognised",
        "log-perftest.txt | 18 of 18 lines recognised",
        "dmesg-smc-13.txt | CQE REQ_ERR remote access error (syndrome=0x13 vendor=0x88) RDMA_WRITE"
            + " qpn=0x0361b3 wqe_counter=7841; 2 of 2 lines recognised",
        "dmesg-nvme-amdvi.txt | CQE RESP_ERR local protection error (syndrome=0x04 vendor=0x56)"
            + " qpn=0x0001e9; the IOMMU stopped the access; 4 of 4 lines recognised",
        "wqe-dc.txt | DC RDMA_WRITE; dc_key=0xdeadbeef dctn=0xabc; rlid=0xc123;"
            + " dgid=::ffff:10.0.0.2 raddr=0x7f0000001000 rkey=0x00001234"
            + " data=4096@0x7f1000002000 lkey=0x00005678",
        "wqe-eth.txt | ETH SEND; cs_flags=0xc0; header=18:0c42a10000010c42a100000208004500002e"
            + " data=4096@0x7f1000002000 lkey=0x00005678",
        "sll.pcap | RC WRITE_ONLY qp=0x000011; nothing wrong",
        "sll2.pcap | RC WRITE_ONLY qp=0x000011; nothing wrong",
        "topo-m-29.txt | nvidia-smi topo -m; NV2; CPUs 24-47,72-95",
        "topo-m-320.txt | NV4; mlx5_1; CPUs 64-71",
        "topo-mnnvl.xml | host0.gpu0; host1.mlx5_0; NV18; NET; C2C",
        "seed001.c | line 10: ibv_create_qp is called with recv_cq = NULL; a.recv_cq = cq",
        "lspci.txt | lspci -tv; ConnectX-7; H100; PIX",
        "ndv5.xml | NCCL topology; nic1; PIX",
        "graph.txt | NCCL graph of a log; NVL; PIX",
        "rocm.txt | rocm-smi --showtopo; XGMI",
        "glued.txt | SYS; CPUs 4-7",
      })
  void pasted_text_is_what_it_is(String name, String contains) {
    assertThat(session.type("explain", pasted(name))).as(session.err()).isEqualTo(ExitCode.OK);
    assertThat(session.out().replaceAll(" +", " "))
        .contains(contains.replaceAll(" +", " ").split("; ?"));
  }

  @Test
  void what_is_not_understood_is_said_and_ends_with_1() throws Exception {
    for (String text : new String[] {"hello\n", "", "ERROR: the coffee machine failed\n"}) {
      Path file = Files.writeString(folder.resolve("text"), text);
      assertThat(session.type("explain", file.toString())).as(text).isEqualTo(ExitCode.FAILED);
      assertThat(session.out()).contains("not understood");
    }
  }

  @Test
  void a_capture_in_which_nothing_was_decoded_is_not_said_to_be_right() throws Exception {
    byte[] capture = Files.readAllBytes(Path.of(pasted("sll.pcap")));
    capture[20] = (byte) 247;
    Path file = Files.write(folder.resolve("ib.pcap"), capture);
    assertThat(session.type("explain", file.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.out())
        .contains("frames of InfiniBand (link type 247) are not read")
        .doesNotContain("nothing wrong");
  }

  @Test
  void the_last_16_bytes_of_a_cqe_are_enough() throws Exception {
    Path file =
        Files.writeString(folder.resolve("t"), "00 00 00 00 00 00 88 13 08 03 61 b3 1e a1 42 d3\n");
    assertThat(session.type("explain", file.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("of which only the end is here", "remote access error");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0x81 | IBV_WC_RETRY_EXC_ERR (12)",
        "IBV_WC_RETRY_EXC_ERR | transport retry counter exceeded",
        "ibv_wc_retry_exc_err | transport retry counter exceeded",
        "NCCL_NET_GDR_LEVEL | How far GPU and NIC may be apart",
        "DB-LOG-10 | Transport retry counter exceeded",
        "0x13 | remote access error",
      })
  void errors_and_variables_are_described(String name, String contains) {
    assertThat(session.type("describe", name)).as(session.err()).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains(contains);
  }
}
