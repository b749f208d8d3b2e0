package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import dev.doorbell.experiments.workbench.explore.Scenario.Shape;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each kind of missing order is found in every run, and a kernel that has it is clean. */
final class OrdersTest {
  private static final int SEEDS = 5;

  private static Scenario scenario(String entry, int blocks, int threads, boolean bothRanks)
      throws IOException {
    return scenario("orders.ptx", entry, blocks, threads, bothRanks);
  }

  private static Scenario scenario(
      String file, String entry, int blocks, int threads, boolean bothRanks) throws IOException {
    try (InputStream stream = Objects.requireNonNull(OrdersTest.class.getResourceAsStream(file))) {
      String ptx = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      Shape shape =
          new Shape(
              2,
              bothRanks ? 2 : 1,
              Scenario.Slots.THREADS,
              List.of(),
              0,
              0,
              false,
              List.of("queue_pairs", "job"),
              Optional.empty());
      return Scenarios.of("put_rate")
          .with(new Scenario.Program(file, entry, ptx, shape))
          .with(new Scenario.Load(blocks, threads, 4, 64, 1, 64, 0, "thread", "pull"));
    }
  }

  private static void assertClean(Scenario scenario) throws ScenarioException {
    Explorer.Report report = Scenarios.explore(scenario, SEEDS);
    assertThat(report.races()).isEmpty();
    assertThat(report.failures()).isEmpty();
    assertThat(report.finished()).isEqualTo(SEEDS);
  }

  private static void assertFound(Scenario scenario, Conflict.Kind kind) throws ScenarioException {
    Explorer.Report report = Scenarios.explore(scenario, SEEDS);
    assertThat(report.found()).as("runs with findings").isEqualTo(SEEDS);
    assertThat(report.races()).extracting(found -> found.what().kind()).contains(kind);
  }

  @ParameterizedTest
  @CsvSource({
    "reuse,         1, 1,  STORE_OVER_DMA_READ",
    "other_completion, 1, 1, STORE_OVER_DMA_READ",
    "read_only,     2, 32, NON_COHERENT",
    "shuffle,       2, 32, LOAD_OF_STORE",
    "scope,         2, 1,  LOAD_OF_STORE",
    "shared_memory, 1, 2,  LOAD_OF_STORE",
    "record_back,   1, 1,  RECORD_GOES_BACK",
  })
  void what_is_not_ordered_is_found_and_what_is_ordered_is_clean(
      String name, int blocks, int threads, Conflict.Kind kind) throws Exception {
    assertFound(scenario(name + "_broken", blocks, threads, false), kind);
    assertClean(scenario(name + "_fixed", blocks, threads, false));
  }

  @Test
  void the_last_word_of_a_message_stands_for_the_rest_only_without_relaxed_ordering()
      throws Exception {
    Scenario.Rules relaxed = new Scenario.Rules(Policy.VENDOR, true, true);
    Scenario broken = scenario("arrival_broken", 1, 1, true);
    assertClean(broken);
    assertFound(broken.with(relaxed), Conflict.Kind.LOAD_OF_STORE);
    assertClean(scenario("arrival_fixed", 1, 1, true));
  }

  /** A hang says where it waits, an error that nobody looks at which queue pair has it. */
  @ParameterizedTest
  @CsvSource({
    "missing_rank, true,  HANG,   polling at orders.ptx:",
    "credit_leak,  true,  HANG,   polling at orders.ptx:",
    "unread_error, false, STATUS, of rank 0: an error completion that no thread has reported",
  })
  void what_never_comes_and_what_nobody_looks_at_are_found(
      String name, boolean bothRanks, Failure.Kind kind, String cause) throws Exception {
    Explorer.Report report = Scenarios.explore(scenario(name + "_broken", 1, 1, bothRanks), SEEDS);
    assertThat(report.found()).as("runs with findings").isEqualTo(SEEDS);
    assertThat(report.failures())
        .extracting(Explorer.Found::what)
        .allSatisfy(
            failure -> {
              assertThat(failure.kind()).isEqualTo(kind);
              assertThat(failure.text()).contains(cause);
            });
    assertClean(scenario(name + "_fixed", 1, 1, bothRanks));
  }

  @Test
  void a_message_that_overwrites_an_unread_one_is_found() throws Exception {
    Explorer.Report report = Scenarios.explore(scenario("credits_broken", 1, 1, true), 4 * SEEDS);
    assertThat(report.found()).as("runs of %d", 4 * SEEDS).isEqualTo(4 * SEEDS);
    assertThat(report.races())
        .extracting(found -> found.what().kind())
        .isSubsetOf(Conflict.Kind.DMA_WRITE, Conflict.Kind.LOAD_OF_STORE);
    assertThat(report.races())
        .extracting(Explorer.Found::what)
        .filteredOn(race -> race.kind() == Conflict.Kind.DMA_WRITE)
        .isNotEmpty()
        .allSatisfy(
            race -> {
              assertThat(race.later().place()).as("a device has no line").isNull();
              SourcePlace put = Objects.requireNonNull(race.later().post(), "the put");
              assertThat(put.text()).startsWith("st.");
            });
    assertClean(scenario("credits_fixed", 1, 1, true));
  }

  @Test
  void a_vector_reduction_acquires_nothing_and_a_vector_atomic_does() throws Exception {
    String file = "reductions.ptx";
    assertFound(scenario(file, "reduction_broken", 2, 1, false), Conflict.Kind.LOAD_OF_STORE);
    assertClean(scenario(file, "reduction_fixed", 2, 1, false));
  }

  @Test
  void a_race_in_shared_memory_names_the_scope_of_the_block() throws Exception {
    Explorer.Report report =
        Scenarios.explore(scenario("shared_memory_broken", 1, 2, false), SEEDS);
    Race race =
        report.races().stream()
            .map(Explorer.Found::what)
            .filter(one -> one.kind() == Conflict.Kind.LOAD_OF_STORE)
            .findFirst()
            .orElseThrow();
    assertThat(race.scope()).isEqualTo("cta");
    assertThat(race.memory()).contains("shared");
    assertThat(Objects.requireNonNull(race.later().place()).text()).contains("ld.shared.u32");
  }
}
