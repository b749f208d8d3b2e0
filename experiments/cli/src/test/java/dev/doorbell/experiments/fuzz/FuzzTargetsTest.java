package dev.doorbell.experiments.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Feeds a few hostile inputs to every reader. {@code -Ddoorbell.fuzz.inputs=} draws more (slow
 * readers get a fifth), {@code -Ddoorbell.fuzz.seed=} others, {@code -Ddoorbell.fuzz.targets=}
 * names some readers, and {@code -Ddoorbell.fuzz.first=} starts at the number that a finding names.
 */
class FuzzTargetsTest {
  private static final long SEED = Long.getLong("doorbell.fuzz.seed", 17);
  private static final long INPUTS = Long.getLong("doorbell.fuzz.inputs", 50);

  /** Slow readers get a fifth of larger campaigns alone. */
  private static final long FEW = 100;

  private static final long FIRST = Long.getLong("doorbell.fuzz.first", 0);

  /** Many times what an input takes on a busy machine. */
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  static List<String> names() {
    return Targets.names();
  }

  static List<String> chosen() {
    return Targets.chosen();
  }

  @ParameterizedTest
  @MethodSource("chosen")
  void reads_or_refuses_whatever_it_is_given(String name) {
    FuzzTarget target = Targets.named(name);
    long inputs = target.isSlow() ? Math.max(Math.min(INPUTS, FEW), INPUTS / 5) : INPUTS;
    FuzzResult result = new FuzzCampaign(SEED, FIRST, inputs, DEADLINE, () -> false).run(target);
    assertThat(result.inputs()).isEqualTo(inputs);
    assertThat(result.findings())
        .as(
            "seed %d: %s",
            SEED,
            result.findings().stream().map(each -> each.number() + ": " + each.detail()).toList())
        .isEmpty();
  }

  @Test
  void every_format_that_doorbell_reads_has_a_target() {
    assertThat(names())
        .containsExactly(
            "adapter",
            "bindings",
            "capture",
            "config",
            "cqe",
            "descriptor",
            "doorbell",
            "explain",
            "expression",
            "fatbin",
            "faults",
            "journal",
            "log",
            "manifest",
            "map",
            "paper",
            "pci",
            "ptx",
            "routing",
            "rows",
            "samples",
            "seal",
            "shim",
            "topology",
            "trace",
            "words",
            "wqe");
  }

  /** What reached code that nothing else did, and findings of the past. */
  @ParameterizedTest
  @MethodSource("chosen")
  void reads_or_refuses_its_corpus(String name) throws Exception {
    List<byte[]> corpus = Corpus.of(name);
    try (FuzzTarget.Session session = Targets.named(name).opener().open()) {
      for (int i = 0; i < corpus.size(); i++) {
        assertThat(session.read(corpus.get(i).clone()))
            .as("input %d", i)
            .isNotEqualTo(FuzzTarget.Outcome.MEMORY_CHANGED);
      }
    }
  }

  /** A target whose inputs are all refused would test no more than its first check. */
  @ParameterizedTest
  @MethodSource("names")
  void reads_its_own_seeds(String name) throws Exception {
    try (FuzzTarget.Session session = Targets.named(name).opener().open()) {
      boolean any = false;
      for (byte[] seed : session.seeds()) {
        any |= session.read(seed.clone()) == FuzzTarget.Outcome.ACCEPTED;
      }
      assertThat(any).isTrue();
    }
  }
}
