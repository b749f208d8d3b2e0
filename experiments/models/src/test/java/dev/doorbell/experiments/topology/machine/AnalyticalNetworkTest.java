package dev.doorbell.experiments.topology.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.timed.machine.Nvlink;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnalyticalNetworkTest {
  private static Topology topology(String text) throws Exception {
    assertThat(AnalyticalNetwork.is(text)).isTrue();
    AnalyticalNetwork network = AnalyticalNetwork.read("n.yml", text);
    return TopologyFile.parse("mine.yaml", ImportedTopology.text(network, "mine", "n.yml"));
  }

  @Test
  void one_slow_dimension_is_the_network_of_a_gpu_a_node() throws Exception {
    Topology topology =
        topology("topology: [ Ring ]\nnpus_count: [ 16 ]\nbandwidth: [ 25 ]\nlatency: [ 500 ]\n");
    assertThat(topology.network().nanos()).isEqualTo(500);
    assertThat(topology.network().bytesPerNano()).isCloseTo(26.84, within(0.01));
    assertThat(topology.nvlink()).isNull();
    assertThat(topology.description()).contains("Ring of 16 NPUs", "prices of h200-cx7");
  }

  @Test
  void a_dimension_beyond_pcie_is_nvlink_and_a_switch_lies_between_two_links() throws Exception {
    Topology topology =
        topology("topology: [Switch]\nnpus_count: [8]\nbandwidth: [400.0]\nlatency: [936.25]\n");
    assertThat(topology.ranksOfNode()).isEqualTo(8);
    Nvlink nvlink = Objects.requireNonNull(topology.nvlink());
    assertThat(nvlink.nanos()).isEqualTo(1872.5);
    assertThat(nvlink.bytesPerNano()).isCloseTo(429.5, within(0.1));
    assertThat(topology.network().bytesPerNano()).isEqualTo(50);
  }

  @Test
  void two_dimensions_are_nvlink_and_the_network() throws Exception {
    String text =
        """
        {"topology": ["Switch", "Switch"], "npus_count": [4, 8],
         "bandwidth": [150, 23.28], "latency": [250, 500]}
        """;
    Topology topology = topology(text);
    assertThat(topology.ranksOfNode()).isEqualTo(4);
    assertThat(topology.network().nanos()).isEqualTo(1000);
    assertThat(topology.network().bytesPerNano()).isCloseTo(25, within(0.01));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[Ring] | [8] | [50, 50] | [500] | 2 numbers for 1 dimensions",
        "[Torus] | [8] | [50] | [500] | unknown topology 'Torus'",
        "[Ring, Ring] | [8, 2] | [50, 400] | [500, 500] | more between nodes than a slot",
        "[Ring, Ring, Ring] | [2, 2, 2] | [5, 5, 5] | [5, 5, 5] | at most 2 fit",
        "[Ring] | [1] | [50] | [500] | out of range",
      })
  void what_has_no_place_here_is_refused_with_its_place(
      String topology, String npus, String bandwidth, String latency, String what) {
    String text =
        "topology: %s\nnpus_count: %s\nbandwidth: %s\nlatency: %s\n"
            .formatted(topology, npus, bandwidth, latency);
    ConfigException refused =
        catchThrowableOfType(ConfigException.class, () -> AnalyticalNetwork.read("n.yml", text));
    assertThat(refused.problems().getFirst().what()).contains(what);
    assertThat(refused.problems().getFirst().where()).startsWith("n.yml:");
  }

  @Test
  void other_files_are_none() {
    assertThat(AnalyticalNetwork.is("<system version=\"1\"/>")).isFalse();
  }
}
