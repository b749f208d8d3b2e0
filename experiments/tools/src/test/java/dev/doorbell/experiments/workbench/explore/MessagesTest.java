package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.model.Policy;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Where the messages of several blocks lie. */
class MessagesTest {
  private static final String NAME = "stand_in_nvshmem";

  @Test
  void messages_lie_side_by_side_for_a_kernel_that_takes_no_stride() throws Exception {
    String ptx;
    try (InputStream in =
        MessagesTest.class.getResourceAsStream(
            "/dev/doorbell/experiments/scenario/foreign/nvshmem/" + NAME + ".ptx")) {
      ptx = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }
    Scenario.Shape shape =
        new Scenario.Shape(
            2,
            1,
            Scenario.Slots.BLOCKS,
            List.of(Scenario.Arrival.ofAll(0, 1)),
            0,
            0,
            false,
            List.of("local", "inbox", "bytes", "iterations", "stamps", "status"),
            Optional.of("nvshmem"),
            Optional.empty());
    Scenario scenario =
        new Scenario(
            new Scenario.Program(NAME + ".ptx", NAME, ptx, shape),
            new Scenario.Load(3, 1, 2, 32, 1, 64, 0, "thread", "pull"),
            Scenarios.posting("gpu", "gpu", 4),
            new Scenario.Rules(Policy.VENDOR, true));
    Explorer.Report report = Scenarios.explore(scenario, 3);
    assertThat(report.failures()).isEmpty();
  }
}
