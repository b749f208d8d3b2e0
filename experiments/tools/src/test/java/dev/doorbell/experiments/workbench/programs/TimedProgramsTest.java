package dev.doorbell.experiments.workbench.programs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.Locus;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.interop.shim.client.ServedWorld;
import org.junit.jupiter.api.Test;

/** Where GPUs and HCAs of programs are in a machine. */
final class TimedProgramsTest {
  @Test
  void gpus_of_a_program_fill_the_ranks_of_a_machine_one_after_the_other() throws Exception {
    ServedWorld single = new TimedPrograms(TopologyFile.load("h200-cx7"), 3);
    assertThat(single.gpu(0, 2)).isEqualTo(Locus.gpu(2, 0));
    assertThat(single.gpu(1, 0)).isEqualTo(Locus.gpu(3, 0));
    ServedWorld pair = new TimedPrograms(TopologyFile.load("two-gpus"), 3);
    assertThat(pair.gpu(0, 2)).isEqualTo(Locus.gpu(1, 0));
    assertThat(pair.gpu(1, 1)).isEqualTo(Locus.gpu(2, 1));
  }

  @Test
  void an_hca_is_nearest_to_the_program_that_has_its_rank() throws Exception {
    ServedWorld world = new TimedPrograms(TopologyFile.load("h200-cx7"), 2);
    assertThat(world.nic(3)).isEqualTo(Locus.nic(3, 0));
    assertThat(world.program(1)).isZero();
    assertThat(world.program(2)).isEqualTo(1);
  }

  @Test
  void gpus_are_peers_within_a_rank_or_over_nvlink() throws Exception {
    ServedWorld apart = new TimedPrograms(TopologyFile.load("h200-cx7"), 2);
    assertThat(apart.arePeers(apart.gpu(0, 0), apart.gpu(0, 1))).isFalse();
    ServedWorld pair = new TimedPrograms(TopologyFile.load("two-gpus"), 3);
    assertThat(pair.arePeers(pair.gpu(0, 0), pair.gpu(0, 1))).isTrue();
    assertThat(pair.arePeers(pair.gpu(0, 1), pair.gpu(0, 2))).isFalse();
    ServedWorld node = new TimedPrograms(TopologyFile.load("h800-cx7"), 2);
    assertThat(node.arePeers(node.gpu(0, 0), node.gpu(0, 1))).isTrue();
  }
}
