package dev.doorbell.experiments.scenario.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.experiments.plan.PointResult;
import dev.doorbell.experiments.scenario.PointBench;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Bytes of payload that cross links, by the counters of the links. */
class ConservationTest {
  private static final int SIZE = 4096;

  /** Bytes that one message of a size makes cross links, each as often as it crosses one. */
  private static double crossed(String placement, String path, int size) throws Exception {
    String[] axes = {"path=" + path, "size=" + size, "placement=" + placement};
    PointResult result =
        new PointBench()
            .run(
                PointBench.point(
                    axes,
                    "kernel: put_bandwidth",
                    "fixed: { window: 4, depth: 64 }",
                    "measure: { metrics: [goodput, link.crossings], samples: 1 }"));
    assertThat(result.verifiedBytes()).isPositive();
    return PointBench.counted(result, "link.crossings") * size;
  }

  /** The links between GPU and HCA, at both ends; staged payload is stored to host memory first. */
  @ParameterizedTest
  @CsvSource({
    "same-switch, pull, 4",
    "same-switch, pull.bf, 4",
    "same-switch, push.memic, 4",
    "same-switch, staged, 6",
    "same-switch, proxy, 4",
    "h200-cx7, pull, 4",
    "h200-cx7, push.memic, 4",
    "cross-rc, pull, 6",
    "cross-socket, pull, 6",
    "gb200-cx7, pull, 4"
  })
  void each_further_byte_crosses_each_link_of_its_way_once(String placement, String path, int links)
      throws Exception {
    double further = crossed(placement, path, 2 * SIZE) - crossed(placement, path, SIZE);
    // Less than one block of a WQE among all messages may be read or stored.
    assertThat(further / SIZE).isCloseTo(links, within(1e-3));
  }
}
