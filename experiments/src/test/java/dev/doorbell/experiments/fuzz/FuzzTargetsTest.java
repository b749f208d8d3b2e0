package dev.doorbell.experiments.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A few hostile inputs for every reader; {@code doorbell fuzz} has as many as anybody wants, and so
 * have {@code -Ddoorbell.fuzz.inputs=} and {@code -Ddoorbell.fuzz.seed=}.
 */
class FuzzTargetsTest {
  private static final long SEED = Long.getLong("doorbell.fuzz.seed", 17);
  private static final long INPUTS = Long.getLong("doorbell.fuzz.inputs", 100);

  /** Many times what an input takes on a busy machine. */
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  static List<String> names() {
    return FuzzTargets.all().stream().map(FuzzTarget::name).toList();
  }

  @ParameterizedTest
  @MethodSource("names")
  void reads_or_refuses_whatever_it_is_given(String name) {
    FuzzResult result = new FuzzCampaign(SEED, 0, INPUTS, DEADLINE, () -> false).run(target(name));
    assertThat(result.inputs()).isEqualTo(INPUTS);
    assertThat(result.findings())
        .as("seed %d: %s", SEED, result.findings().stream().map(FuzzFinding::detail).toList())
        .isEmpty();
  }

  @Test
  void every_format_that_doorbell_reads_has_a_target() {
    assertThat(names())
        .contains(
            "adapter",
            "capture",
            "config",
            "control",
            "cqe",
            "descriptor",
            "doorbell",
            "expression",
            "faults",
            "journal",
            "ledger",
            "litmus",
            "log",
            "machine",
            "manifest",
            "packet",
            "paper",
            "peer-report",
            "ptx",
            "samples",
            "shim",
            "topology",
            "wqe");
  }

  /** A target whose inputs are all refused would test no more than its first check. */
  @ParameterizedTest
  @MethodSource("names")
  void reads_its_own_seeds(String name) throws Exception {
    try (FuzzTarget.Session session = target(name).opener().open()) {
      boolean any = false;
      for (byte[] seed : session.seeds()) {
        any |= session.read(seed.clone()) == FuzzTarget.Outcome.ACCEPTED;
      }
      assertThat(any).isTrue();
    }
  }

  private static FuzzTarget target(String name) {
    return FuzzTargets.all().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }
}
