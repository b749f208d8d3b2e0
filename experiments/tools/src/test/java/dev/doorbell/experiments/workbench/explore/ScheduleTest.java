package dev.doorbell.experiments.workbench.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.explore.model.CalmChooser.Stretch;
import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.core.fabric.explore.model.Policy;
import dev.doorbell.experiments.workbench.explore.Laboratory.Outcome;
import dev.doorbell.experiments.workbench.explore.Scenario.ScenarioException;
import dev.doorbell.ptxvm.ir.Instruction;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A run can be had again, to the turn. */
final class ScheduleTest {
  private static Scenario strict() {
    return Scenarios.of("put_rate").with(new Scenario.Rules(Policy.STRICT, true));
  }

  @Test
  void the_same_seed_gives_the_same_run() throws ScenarioException {
    Laboratory.Extent extent = new Laboratory.Extent(Scenarios.PLENTY, Long.MAX_VALUE, 50);
    Outcome one = Scenarios.LABORATORY.run(Scenarios.of("put_rate"), 7, extent);
    Outcome other = Scenarios.LABORATORY.run(Scenarios.of("put_rate"), 7, extent);
    assertThat(other.turns()).isEqualTo(one.turns());
    assertThat(other.instructions()).isEqualTo(one.instructions());
    assertThat(other.lastTurns()).isEqualTo(one.lastTurns()).hasSize(50);
  }

  @Test
  void a_schedule_leads_to_its_race_and_no_further() throws ScenarioException {
    Scenario scenario = strict();
    Explorer explorer = new Explorer(Scenarios.LABORATORY, scenario);
    Explorer.Report report = explorer.explore(3, Scenarios.PLENTY);
    assertThat(report.races()).isNotEmpty();
    for (Explorer.Found<Race> found : report.races()) {
      Outcome again = explorer.replay(found.schedule(), 8, Scenarios.PLENTY);
      assertThat(again.turns()).isEqualTo(found.schedule().turns());
      assertThat(again.races()).extracting(Race::key).contains(found.what().key());
      assertThat(again.lastTurns()).hasSize(8);
      Outcome before =
          Scenarios.LABORATORY.run(
              scenario,
              found.schedule(),
              new Laboratory.Extent(Scenarios.PLENTY, found.schedule().turns() - 1, 0));
      assertThat(before.races()).extracting(Race::key).doesNotContain(found.what().key());
    }
  }

  @Test
  void a_reported_schedule_is_no_longer_than_the_first_that_showed_the_race()
      throws ScenarioException {
    Scenario scenario = strict();
    Outcome first = Scenarios.LABORATORY.run(scenario, 1, Laboratory.Extent.of(Scenarios.PLENTY));
    Explorer.Report report = Scenarios.explore(scenario, 1);
    assertThat(report.races()).isNotEmpty();
    assertThat(report.races())
        .allSatisfy(
            found ->
                assertThat(first.races())
                    .anySatisfy(
                        race -> {
                          assertThat(race.key()).isEqualTo(found.what().key());
                          assertThat(found.schedule().turns()).isLessThanOrEqualTo(race.turns());
                        }));
    assertThat(report.races()).anyMatch(found -> !found.schedule().calm().isEmpty());
  }

  @ParameterizedTest
  @CsvSource({"traps, failures.ptx:32", "hangs, it did not end"})
  void a_failures_schedule_is_shortened_and_leads_to_it_again(String entry, String text)
      throws Exception {
    String ptx;
    try (InputStream stream =
        Objects.requireNonNull(ScheduleTest.class.getResourceAsStream("failures.ptx"))) {
      ptx = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
    Scenario scenario =
        Scenarios.of("put_rate")
            .with(new Scenario.Program("failures.ptx", entry, ptx))
            .with(new Scenario.Load(2, 1, 1, 32, 1, 64, 0, "thread", "pull"));
    assertShortened(scenario, 40, text);
  }

  @Test
  void the_schedule_of_a_wait_without_end_is_shortened_and_leads_to_it_again() throws Exception {
    BugCase bug = BugCase.of("erased-flag").orElseThrow();
    Scenario.Program broken = Scenarios.LABORATORY.kernel(bug, false);
    assertShortened(bug.scenario(broken), 2, "deadline passed");
  }

  private static void assertShortened(Scenario scenario, int seeds, String text)
      throws ScenarioException {
    Explorer explorer = new Explorer(Scenarios.LABORATORY, scenario);
    Explorer.Report report = explorer.explore(seeds, Scenarios.PLENTY);
    assertThat(report.failures()).hasSize(1);
    Explorer.Found<Failure> failed = report.failures().getFirst();
    assertThat(failed.what().text()).contains(text);
    Schedule schedule = failed.schedule();
    assertThat(schedule.calm()).isNotEmpty();
    Outcome plain =
        Scenarios.LABORATORY.run(scenario, schedule.seed(), Laboratory.Extent.of(Scenarios.PLENTY));
    assertThat(schedule.turns()).isLessThanOrEqualTo(plain.turns());
    Outcome again = explorer.replay(schedule, 8, Scenarios.PLENTY);
    assertThat(again.failure()).isEqualTo(failed.what());
    assertThat(again.turns()).isEqualTo(schedule.turns());
    Outcome before = explorer.replay(schedule.upTo(schedule.turns() - 1), 8, Scenarios.PLENTY);
    assertThat(before.failure()).isNull();
  }

  @Test
  void a_race_names_both_lines_and_what_the_hca_saw() throws ScenarioException {
    Explorer.Report report = Scenarios.explore(strict(), 3);
    List<Race> reads =
        report.races().stream()
            .map(Explorer.Found::what)
            .filter(race -> race.kind() == Conflict.Kind.RECORD_BEHIND_DOORBELL)
            .toList();
    assertThat(reads).isNotEmpty();
    Race race = reads.getFirst();
    SourcePlace record = Objects.requireNonNull(race.earlier().place());
    assertThat(record.text()).contains("st.relaxed.sys.global.b32");
    assertThat(record.source()).contains("post.cuh:");
    assertThat(Objects.requireNonNull(race.later().place()).text()).contains("st.mmio");
    assertThat(race.saw()).contains("while the record may still say");
    assertThat(race.scope()).isEqualTo("sys");
  }

  @Test
  void a_schedule_reads_back_and_knows_its_scenario() {
    Schedule schedule = Schedule.of(strict(), 3, 1234);
    assertThat(Schedule.parse(schedule + "\n")).contains(schedule);
    assertThat(schedule.isOf(strict())).isTrue();
    assertThat(schedule.isOf(Scenarios.of("put_rate"))).isFalse();
    Schedule calmed = schedule.calmed(new Stretch(5, 9), 1000).calmed(new Stretch(0, 5), 900);
    assertThat(calmed.toString()).startsWith("3~0-9@900#");
    assertThat(Schedule.parse(calmed.toString())).contains(calmed);
    assertThat(Schedule.parse("3~9-5@900#00000000")).isEmpty();
    assertThat(Schedule.parse("3@1234")).isEmpty();
    assertThat(Schedule.parse("99999999999999999999@1#00000000")).isEmpty();
  }

  /** The fence of a poster that leaves ringing to another one has a witness in very few runs. */
  @Test
  void each_fence_of_a_post_is_needed() throws Exception {
    String leaving = "post.cuh:" + lineOf("// F5:");
    Scenario scenario = Scenarios.of("put_rate");
    List<Instruction> fences =
        Mutation.executedFences(scenario).stream()
            .filter(fence -> fence.source().toString().contains("post.cuh"))
            .filter(fence -> !fence.source().toString().contains(leaving))
            .toList();
    assertThat(fences).hasSizeGreaterThanOrEqualTo(2);
    for (Instruction fence : fences) {
      Scenario without = scenario.with(without(scenario.program(), fence.line()));
      assertThat(Scenarios.explore(without, 2).isClean()).as("%s", fence.source()).isFalse();
    }
  }

  private static Scenario.Program without(Scenario.Program program, int line) {
    String[] lines = program.ptx().split("\n", -1);
    lines[line - 1] = lines[line - 1].replaceFirst("\\b(fence|membar)[.:\\w]*\\s*;", "");
    return program.with(String.join("\n", lines));
  }

  private static int lineOf(String comment) throws IOException {
    List<String> lines = Files.readAllLines(Path.of("../kernels/include/doorbell/post.cuh"));
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).contains(comment)) {
        return i + 1;
      }
    }
    throw new AssertionError(comment);
  }
}
