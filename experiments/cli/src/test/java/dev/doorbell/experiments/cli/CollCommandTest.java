package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command prints what nccl-tests would, and its rows parse as those do. */
class CollCommandTest {
  @TempDir private Path folder;
  private final RealSession session = new RealSession();

  /** Fields of the rows, as parsers of nccl-tests' output take them: lines that begin with no #. */
  private List<String[]> rows() {
    return session
        .out()
        .lines()
        .filter(line -> !line.startsWith("#") && !line.isBlank())
        .map(line -> line.strip().split("\\s+"))
        .toList();
  }

  @Test
  void a_row_has_time_bandwidths_and_wrong_elements_out_of_place_and_in_place() {
    ExitCode code =
        session.type(
            "coll",
            "all_reduce",
            "-b",
            "4K",
            "-e",
            "4K",
            "-g",
            "3",
            "--algo",
            "direct",
            "--out",
            folder.toString());
    assertThat(code).as(session.out() + session.err()).isEqualTo(ExitCode.OK);
    assertThat(rows()).hasSize(1);
    String[] row = rows().getFirst();
    assertThat(row).hasSize(13);
    assertThat(row).startsWith("4096", "1024", "float", "sum", "-1");
    double micros = Double.parseDouble(row[5]);
    assertThat(micros).isBetween(5.0, 100.0);
    assertThat(Double.parseDouble(row[6])).isCloseTo(4.096 / micros, within(0.006));
    assertThat(Double.parseDouble(row[7])).isCloseTo(4.096 / micros * 4 / 3, within(0.006));
    assertThat(row[8]).isEqualTo("0");
    assertThat(row[12]).isEqualTo("0");
    assertThat(session.out())
        .contains("# Out of bounds values : 0 OK", "# Avg bus bandwidth    : ");
    assertThat(session.out()).contains("basis modelled", "MODELLED RESULT", "# run " + folder);
  }

  @Test
  void what_is_never_in_place_has_no_result_there() {
    ExitCode code = session.type("coll", "barrier", "-g", "3", "--out", folder.toString());
    assertThat(code).as(session.out() + session.err()).isEqualTo(ExitCode.OK);
    String[] row = rows().getFirst();
    assertThat(row).startsWith("0", "0", "float", "none", "-1");
    assertThat(Double.parseDouble(row[5])).isBetween(3.0, 50.0);
    assertThat(row).endsWith("N/A", "N/A", "N/A", "N/A");
  }

  @Test
  void nccl_explains_its_own_protocols_and_runs_nothing() {
    String command = "coll all_gather -b 1M -e 4M -f 4 -g 4 --placement gb200-cx7 --nccl";
    ExitCode code = session.type(command.split(" "));
    assertThat(code).as(session.out() + session.err()).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("  ring ll us  ring ll128 us  ring simple us  least");
    assertThat(rows()).hasSize(2);
    // 8.4 us, 3 steps of 14 us, and 3/4 MiB by a port.
    assertThat(Double.parseDouble(rows().getFirst()[3])).isBetween(66.0, 67.0);
    assertThat(session.out()).contains("NCCL's latencies", "nothing was run", "-t 4 -g 1");
  }

  @Test
  void nccl_takes_as_long_as_a_thread_needs_for_all_of_its_gpus() {
    String command = "coll all_reduce -b 1K -e 1K --placement dgx-h100 --nccl";
    assertThat(session.type((command + " -g 8").split(" "))).isEqualTo(ExitCode.OK);
    assertThat(rows().getFirst()[1]).isEqualTo("47.20");
    assertThat(session.out()).contains("a thread issues to its GPUs in turn");
    assertThat(session.type((command + " -t 8 -g 1").split(" "))).isEqualTo(ExitCode.OK);
    assertThat(rows().getFirst()[1]).isEqualTo("15.01");
    assertThat(session.out()).doesNotContain("a thread issues to its GPUs in turn");
  }

  @Test
  void nccl_refuses_a_collective_that_its_cost_model_lacks() {
    assertThat(session.type("coll", "broadcast", "-g", "4", "--nccl")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err())
        .contains("DB-U003", "all_gather, reduce_scatter; all_to_all in a node");
    assertThat(session.out()).doesNotContain("N/A");
  }

  @Test
  void explain_prints_what_each_algorithm_is_predicted_to_take_and_runs_nothing() {
    ExitCode code =
        session.type(
            "coll",
            "all_gather",
            "-b",
            "64",
            "-e",
            "4K",
            "-f",
            "64",
            "-g",
            "6",
            "--explain",
            "--out",
            folder.toString());
    assertThat(code).as(session.out() + session.err()).isEqualTo(ExitCode.OK);
    assertThat(session.out())
        .contains("ring us", "direct us")
        .doesNotContain("tree us", "halving us");
    assertThat(rows()).hasSize(2).allSatisfy(row -> assertThat(row).hasSize(4));
    assertThat(folder).isEmptyDirectory();
  }

  /** A ring passes 30/16 of its bytes through the eight ports of each node, 50 GB/s each. */
  @Test
  void a_large_ring_is_no_faster_than_the_ports_of_a_node() {
    ExitCode code =
        session.type(
            "coll",
            "all_reduce",
            "-b",
            "32M",
            "-e",
            "1G",
            "-f",
            "32",
            "-g",
            "16",
            "--algo",
            "ring",
            "--placement",
            "dgx-h100",
            "--explain",
            "--out",
            folder.toString());
    assertThat(code).as(session.out() + session.err()).isEqualTo(ExitCode.OK);
    double ports = 30.0 / 16 * (1 << 30) / (8 * 50e3);
    assertThat(rows().getLast()[0]).isEqualTo("1073741824");
    assertThat(Double.parseDouble(rows().getLast()[1])).isBetween(0.99 * ports, 1.1 * ports);
  }

  @Test
  void what_is_no_collective_and_no_range_of_sizes_is_refused() {
    assertThat(session.type("coll", "allreduce")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("COLLECTIVE allreduce", "all_reduce, reduce_scatter");
    assertThat(session.type("coll", "all_reduce", "-b", "4K", "-e", "8")).isEqualTo(ExitCode.USAGE);
    assertThat(session.type("coll", "all_reduce", "-e", "64K", "-i", "8"))
        .isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("more than 64 sizes");
    assertThat(session.type("coll", "all_gather", "--algo", "tree", "-g", "4"))
        .isEqualTo(ExitCode.CONFIG);
    assertThat(session.err()).contains("all_gather by tree among 4 ranks");
  }
}
