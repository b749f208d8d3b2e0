package dev.doorbell.experiments.workbench.dma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.topology.TopologyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DmaProbeTest {
  /** One row of validation/pciebench.csv. */
  private record Row(String id, String machine, double value, DmaSetting setting) {}

  private static List<Row> rows() throws Exception {
    return Files.readAllLines(Path.of("validation/pciebench.csv")).stream()
        .skip(1)
        .map(line -> line.split(",", -1))
        .map(
            cells ->
                new Row(
                    cells[0],
                    cells[1],
                    Double.parseDouble(cells[5]),
                    DmaSetting.parse(cells[7].replaceFirst("dma: ", ""))))
        .toList();
  }

  @Test
  void nine_of_ten_rows_of_the_machines_of_pcie_bench_come_out_within_ten_percent()
      throws Exception {
    Map<String, Topology> machines = new HashMap<>();
    Map<String, Double> errors = new HashMap<>();
    for (Row row : rows()) {
      Topology machine = machines.get(row.machine());
      if (machine == null) {
        machine = TopologyFile.load("pciebench-" + row.machine());
        machines.put(row.machine(), machine);
      }
      errors.put(row.id(), DmaProbe.measure(machine, row.setting()) / row.value() - 1);
    }
    List<String> far =
        errors.entrySet().stream()
            .filter(error -> Math.abs(error.getValue()) > 0.1)
            .map(Map.Entry::getKey)
            .toList();
    assertThat(machines).hasSize(5);
    assertThat(far).as(() -> "beyond 10 %: " + errors).hasSizeLessThanOrEqualTo(errors.size() / 10);
  }

  @Test
  void the_same_measurement_gives_the_same_number() throws Exception {
    Topology machine = TopologyFile.load("pciebench-nfp-bdw");
    DmaSetting setting = DmaSetting.parse("transfer=read-rate bytes=64 window=1048576 iommu=on");
    assertThat(DmaProbe.measure(machine, setting)).isEqualTo(DmaProbe.measure(machine, setting));
  }

  @Test
  void a_window_beyond_what_the_iommu_holds_is_walked_for_unless_it_is_off() throws Exception {
    Topology machine = TopologyFile.load("pciebench-nfp-bdw");
    String read = "transfer=read-latency bytes=64 cache=cold window=";
    double within = DmaProbe.measure(machine, DmaSetting.parse(read + "262144 iommu=on"));
    double beyond = DmaProbe.measure(machine, DmaSetting.parse(read + "4194304 iommu=on"));
    double off = DmaProbe.measure(machine, DmaSetting.parse(read + "4194304"));
    assertThat(beyond - within).isEqualTo(280);
    assertThat(off).isEqualTo(within);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          bytes=64                                      | lacks 'transfer='
          transfer=read-rat bytes=64                    | did you mean 'read-rate'
          transfer=read-rate byte=64                    | did you mean 'bytes'
          transfer=read-rate bytes=64 cache=hot         | cache=hot must be warm or cold
          transfer=read-rate bytes=8192                 | bytes=8192 must be 1 to 4096
          transfer=read-rate bytes=4096 window=64       | window=64 must hold a transfer
          """)
  void a_wrong_setting_is_refused_with_a_sentence(String text, String sentence) {
    assertThatThrownBy(() -> DmaSetting.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(sentence);
  }

  @Test
  void a_topology_without_the_device_is_refused() throws Exception {
    Topology machine = TopologyFile.load("pciebench-nfp-snb");
    DmaSetting setting = DmaSetting.parse("transfer=read-rate bytes=64 device=2");
    assertThatThrownBy(() -> DmaProbe.measure(machine, setting))
        .hasMessageContaining("no nic2 or no cpu0");
  }
}
