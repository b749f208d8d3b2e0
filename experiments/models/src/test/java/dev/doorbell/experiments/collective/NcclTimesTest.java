package dev.doorbell.experiments.collective;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Times are NCCL's latencies, and bytes at the rates of a topology. */
class NcclTimesTest {
  private static Map<String, Double> times(
      Collective collective, long bytes, int ranks, String topology) throws ConfigException {
    return new NcclTimes(collective, ranks, 1, TopologyFile.load(topology)).of(bytes);
  }

  private static double time(
      Collective collective, long bytes, int ranks, String topology, String way)
      throws ConfigException {
    return requireNonNull(times(collective, bytes, ranks, topology).get(way));
  }

  @Test
  void a_ring_in_a_node_takes_a_latency_a_step_and_the_rate_of_a_port() throws ConfigException {
    // 8.4 us and 14 steps of 3.4 us; 1 GiB 14/8 times by 360 GB/s.
    double wire = (1L << 30) * 1.75 / 360;
    Map<String, Double> all = times(Collective.ALL_REDUCE, 1L << 30, 8, "dgx-h100");
    assertThat(all.get("ring simple")).isCloseTo(56_000 + wire, within(1.0));
    Map<String, Double> gather = times(Collective.ALL_GATHER, 1L << 30, 8, "dgx-h100");
    assertThat(gather.get("ring simple")).isCloseTo(32_200 + wire / 2, within(1.0));
    assertThat(gather).doesNotContainKeys("tree simple", "nvls simple");
  }

  @Test
  void a_ring_among_nodes_of_one_gpu_takes_fourteen_microseconds_a_step() throws ConfigException {
    double rate = 50.0 * 4096 / (4096 + 28);
    double wire = 2 * (1 << 20) * 3 / 4 / rate;
    assertThat(times(Collective.ALL_REDUCE, 1 << 20, 4, "gb200-cx7").get("ring simple"))
        .isCloseTo(1.4 * (8_400 + 6 * 14_000) + wire, within(1.0));
    assertThat(times(Collective.ALL_GATHER, 1 << 20, 4, "gb200-cx7").get("ring simple"))
        .isCloseTo(8_400 + 3 * 14_000 + wire / 2, within(1.0));
  }

  @Test
  void a_thread_issues_to_its_gpus_one_after_another() throws ConfigException {
    Map<String, Double> all = times(Collective.ALL_REDUCE, 1024, 16, "dgx-h100");
    Map<String, Double> issued =
        new NcclTimes(Collective.ALL_REDUCE, 16, 16, TopologyFile.load("dgx-h100")).of(1024);
    // A thread has no GPUs of another node: 8 calls of 5.9 us, or what the collective takes.
    all.replaceAll((name, nanos) -> Math.max(47_200, nanos));
    assertThat(issued).isEqualTo(all).containsEntry("tree ll", 47_200.0);
    assertThat(issued.get("tree ll128")).isGreaterThan(47_200);
  }

  @Test
  void nvls_copies_its_first_and_its_last_chunk() throws ConfigException {
    // 512 MiB in chunks of 64 KiB of 8 ranks a block; 4 MiB in chunks of 16 KiB.
    double rate = 360 / (1 + 1.0 / 8 + 26.0 / 128);
    assertThat(times(Collective.ALL_REDUCE, 512L << 20, 8, "dgx-h100").get("nvls simple"))
        .isCloseTo(25_000 + 2 * (2000 + (512 << 10) / 36.3) + (512L << 20) / rate, within(1.0));
    assertThat(times(Collective.ALL_REDUCE, 4 << 20, 8, "dgx-h100").get("nvls simple"))
        .isCloseTo(25_000 + 2 * (2000 + (128 << 10) / 36.3) + (4 << 20) / rate, within(1.0));
  }

  @Test
  void small_sizes_take_ll_and_large_ones_the_switch() throws ConfigException {
    assertThat(least(8, 8)).isEqualTo("ring ll");
    assertThat(least(1L << 30, 8)).isEqualTo("nvls simple");
    assertThat(least(8, 16)).isEqualTo("tree ll");
    assertThat(least(1L << 30, 16)).isEqualTo("nvls simple");
  }

  private static String least(long bytes, int ranks) throws ConfigException {
    return times(Collective.ALL_REDUCE, bytes, ranks, "dgx-h100").entrySet().stream()
        .min(Map.Entry.comparingByValue())
        .orElseThrow()
        .getKey();
  }

  @Test
  void an_all_reduce_among_many_nodes_passes_each_port_twice() throws ConfigException {
    // 248 nodes: 7 levels of two trees, halves of which pass a port of 49.7 GB/s up and down, and
    // then the last loop, 16 blocks with 8 chunks of 64 KiB.
    double rate = 8 * 50.0 * 4096 / (4096 + 28) / 2;
    double latency = 25_000 + 14 * 20_900 + 2 * (2000 + (512 << 10) / 36.3);
    assertThat(times(Collective.ALL_REDUCE, 512L << 20, 1984, "dgx-h100").get("nvls simple"))
        .isCloseTo(latency + ((512L << 20) + (8 << 20)) / rate, within(1.0));
  }

  @Test
  void chunks_of_a_tree_of_switches_grow_with_the_size() throws ConfigException {
    // A loop of 16 blocks with 8 chunks each, on 2 and on 4 nodes; below one loop it is the size.
    assertThat(loop(4 << 20, 2)).isCloseTo(4 << 20, within(100.0));
    assertThat(loop((8 << 20) - 1, 2)).isCloseTo(4 << 20, within(100.0));
    assertThat(loop(8 << 20, 2)).isCloseTo(8 << 20, within(100.0));
    assertThat(loop((64 << 20) - 1, 2)).isCloseTo(8 << 20, within(100.0));
    assertThat(loop(64 << 20, 2)).isCloseTo(16 << 20, within(100.0));
    assertThat(loop(64 << 20, 4)).isCloseTo(8 << 20, within(100.0));
    assertThat(loop(1 << 20, 2)).isCloseTo(1 << 20, within(100.0));
  }

  private static double loop(long bytes, int nodes) throws ConfigException {
    double ports = 8 * 50.0 * 4096 / (4096 + 28) / (nodes == 2 ? 1 : 2);
    double near = 360 / (1 + 1.0 / 8 + 26.0 / 128);
    double time = time(Collective.ALL_REDUCE, bytes, 8 * nodes, "dgx-h100", "nvls simple");
    double latency = 25_000 + 2 * (nodes / 2) * 20_900 + 4000;
    return (time - latency - bytes / Math.min(near, ports)) / (2 / (16 * 36.3) + 1 / ports);
  }

  @Test
  void a_tree_has_the_part_of_its_rate_that_nccl_reckons_with() throws ConfigException {
    // 0.92 of 360 GB/s; of LL 1 in 3.8, half of it at 128 KiB, all from 64 MiB on.
    double whole = 0.92 * 360;
    assertThat(tree("tree simple", 256 << 20)).isCloseTo(whole * 0.9, within(0.01));
    assertThat(tree("tree simple", 512 << 20)).isCloseTo(whole, within(0.01));
    assertThat(tree("tree ll", (128 << 10) - 1)).isCloseTo(whole / 3.8 * 0.6, within(0.01));
    assertThat(tree("tree ll", 128 << 10)).isCloseTo(whole / 3.8 * 0.5, within(0.01));
    assertThat(tree("tree ll", 64 << 20)).isCloseTo(whole / 3.8, within(0.01));
    assertThat(tree("tree ll", 32)).isCloseTo(whole / 3.8, within(0.5));
  }

  private static double tree(String name, long bytes) throws ConfigException {
    double latency = name.equals("tree ll") ? 15_200 : 64_400;
    return 2 * bytes / (time(Collective.ALL_REDUCE, bytes, 8, "dgx-h100", name) - latency);
  }

  @Test
  void the_first_chunk_of_a_tree_of_ll128_has_it_alone() throws ConfigException {
    // 16 channels: in a node 7 hops up and 7 down by 36.7 GB/s, among nodes the ports as well.
    double rate = 0.92 * 360 * 7 / 9;
    assertThat(first(64 << 10, 8, 31_500, rate * 0.6)).isCloseTo(14 * 4096 / 36.7, within(1.0));
    assertThat(first((2 << 20) - 1, 8, 31_500, rate * 0.6))
        .isCloseTo(14 * 18_000 / 36.7, within(1.0));
    assertThat(first(4 << 20, 8, 31_500, rate * 0.8)).isCloseTo(14 * 36_000 / 36.7, within(1.0));
    assertThat(first(128 << 20, 8, 31_500, rate)).isCloseTo(14 * 72_000 / 36.7, within(1.0));
    double ports = 8 * 50.0 * 4096 / (4096 + 28);
    assertThat(first(4 << 20, 16, 48_500, 0.92 * 360 * 120 / 128 * 0.8))
        .isCloseTo(14 * 36_000 / 36.7 + 2 * 16 * 36_000 / ports, within(1.0));
  }

  private static double first(long bytes, int ranks, double latency, double rate)
      throws ConfigException {
    double time = time(Collective.ALL_REDUCE, bytes, ranks, "dgx-h100", "tree ll128");
    return time - latency - 2 * bytes / rate;
  }

  @Test
  void an_all_to_all_has_channels_by_its_ranks_and_its_size() throws ConfigException {
    // Among 8, 7/8 by the port and the last chunk by one of 20.4 GB/s; 4 channels a peer do not
    // bound.
    double last = (512 << 10) / 20.4;
    assertThat(exchange(256 << 20, 8)).isCloseTo(6_300 + (224 << 20) / 360.0 + last, within(1.0));
    // Between 2, 16 channels of up to 16 MiB bound, and 32 do not.
    assertThat(exchange(512 << 20, 2))
        .isCloseTo(6_300 + (256 << 20) / (16 * 20.4) + last, within(1.0));
    assertThat(exchange((512 << 20) + 32, 2))
        .isCloseTo(6_300 + ((256 << 20) + 16) / 360.0 + last, within(1.0));
    // A small message is one chunk.
    assertThat(exchange(8 << 10, 8)).isCloseTo(6_300 + 7 * 1024 / 360.0 + 256 / 20.4, within(1.0));
  }

  private static double exchange(long bytes, int ranks) throws ConfigException {
    return time(Collective.ALL_TO_ALL, bytes, ranks, "dgx-h100", "p2p simple");
  }

  @Test
  void what_the_cost_model_of_nccl_leaves_out_has_no_time() throws ConfigException {
    assertThat(times(Collective.ALL_TO_ALL, 1024, 16, "dgx-h100")).isEmpty();
    assertThat(times(Collective.ALL_TO_ALL, 1024, 2, "h200-cx7")).isEmpty();
    assertThat(times(Collective.BARRIER, 0, 8, "dgx-h100")).isEmpty();
    assertThat(times(Collective.BROADCAST, 1024, 8, "dgx-h100")).isEmpty();
    assertThat(times(Collective.ALL_REDUCE, 1024, 8, "dgx-a100")).doesNotContainKey("nvls simple");
  }
}
