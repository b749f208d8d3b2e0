package dev.doorbell.experiments.pasted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.collective.Collective;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PastedTableTest {
  private static PastedTable table(String text) {
    return PastedTable.of(text.lines().toList());
  }

  @Test
  void tables_of_collectives_are_no_messages_between_two_ends() {
    PastedTable osu = table("131072    685.32    676.04    694.09    100\n");
    assertThat(osu.title()).isEqualTo("collective latency");
    assertThat(osu.isPointToPoint()).isFalse();
    assertThat(osu.rows().getFirst().nanos()).isEqualTo(685_320);
    PastedTable two = table("# OSU MPI Bandwidth Test v7.3\n1048576       11251.29\n");
    assertThat(two.isPointToPoint()).isTrue();
    assertThat(two.title()).isEqualTo("bandwidth");
    PastedTable ucc =
        table(
            """
            Collective:   Alltoall
              Count  Size  Time, us  Bandwidth, GB/s
              65536   262144  76.46  72.62  82.30  24.00  25.27  22.30
            """);
    assertThat(ucc.tool().words()).isEqualTo("ucc_perftest");
    assertThat(ucc.title()).isEqualTo("Alltoall");
    assertThat(ucc.isPointToPoint()).isFalse();
    assertThat(ucc.rows()).containsExactly(new PastedTable.Row(262144, 76_460, false));
  }

  @Test
  void results_that_were_wrong_are_said_and_rounding_is_not() {
    String row =
        "   8   2   float   sum   -1   40.64   0.00   0.00   %s   40.6   0.00   0.00   %s\n";
    for (String[] wrong : new String[][] {{"3", "0"}, {"0", "1"}, {"0e+00", "1e+00"}}) {
      PastedTable table = table(row.formatted((Object[]) wrong));
      assertThat(table.text("h200-cx7", Map.of(), 1)).contains("WRONG RESULTS");
    }
    for (String[] right : new String[][] {{"0", "0"}, {"0", "N/A"}, {"2e-06", "2e-06"}}) {
      PastedTable table = table(row.formatted((Object[]) right));
      assertThat(table.text("h200-cx7", Map.of(), 1)).doesNotContain("WRONG");
    }
  }

  @Test
  void a_table_of_perftest_is_held_to_the_link_that_it_comes_near_to_and_its_queue_pairs() {
    PastedTable table =
        table(
            """
                                RDMA_Write BW Test
             Number of qps   : 2            Transport type : IB
             #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
             8          5000             0.90               0.80                 12.5
             65536      5000             92.41              92.40                0.176
            """);
    assertThat(table.machine().gigabits()).isEqualTo(100);
    assertThat(table.machine().queues()).isEqualTo(2);
    assertThat(table.title()).isEqualTo("bandwidth");
    assertThat(table.rows().getFirst().nanos()).isCloseTo(80, within(0.1));
    String text = table.text("h200-cx7", Map.of(8L, 6.0, 65536L, 2621.0), 32.6);
    assertThat(text)
        .contains("a link of 100 Gb/s", "queue pairs: 2")
        .containsPattern("8 +0.08 +0.02 +4.91x  slower")
        .containsPattern("65536 +5.67 +5.32 +1.07x\n")
        .contains("one CPU thread posts them")
        .doesNotContain("large sizes are slow");
  }

  @Test
  void latency_is_the_typical_one_else_the_average() {
    assertThat(
            table(
                    """
                     #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]
                     8       1000          1.50           9.00         1.62              1.70
                    """)
                .rows())
        .containsExactly(new PastedTable.Row(8, 1620, false));
    assertThat(
            table(
                    """
                     #bytes        #iterations       t_avg[usec]    tps average
                     8             1000              1.70           294117.6
                    """)
                .rows())
        .containsExactly(new PastedTable.Row(8, 1700, false));
  }

  @Test
  void nccl_tests_name_ranks_hosts_and_gpu() {
    PastedTable table =
        table(
            """
            # Collective test starting: all_reduce_perf
            #  Rank  0 Group  0 Pid 11 on  n1 device  0 [0x19] NVIDIA H100 80GB HBM3
            #  Rank  1 Group  0 Pid 12 on  n2 device  0 [0x19] NVIDIA H100 80GB HBM3
                1048576        262144     float     sum      -1    104.2   10.06   10.06      0
            """);
    assertThat(table.machine())
        .isEqualTo(new PastedTable.Machine(2, 2, "NVIDIA H100 80GB HBM3", 1, 0));
    assertThat(table.machine().topology()).isEqualTo("h100-cx7");
    assertThat(table.collective()).contains(Collective.ALL_REDUCE);
    assertThat(table.text("h100-cx7", Map.of(1048576L, 100_000.0), 32.6))
        .contains("2 hosts, NVIDIA H100", "2 ranks", "nothing is far off");
  }

  @Test
  void what_the_model_does_not_have_is_not_held_against_another() {
    String row = "    1048576   262144   float    none   -1    104.2   10.06    9.00     0\n";
    assertThat(table("# sendrecv_perf\n" + row).collective()).isEmpty();
    assertThat(table(row).collective()).isEmpty();
    PastedTable reduce =
        table("# OSU MPI-CUDA Reduce Latency Test v7.3\n# Size  Avg Latency(us)\n8     46.01\n");
    assertThat(reduce.title()).isEqualTo("Reduce latency");
    assertThat(reduce.isPointToPoint()).isFalse();
    assertThat(reduce.text("h200-cx7", Map.of(), 32.6)).contains("no value for these sizes");
    PastedTable put = table("# OSU MPI-CUDA Latency Test v7.3\n# Size  Latency (us)\n8     2.01\n");
    assertThat(put.isPointToPoint()).isTrue();
    assertThat(put.sizes()).isEqualTo(List.of(8L));
  }
}
