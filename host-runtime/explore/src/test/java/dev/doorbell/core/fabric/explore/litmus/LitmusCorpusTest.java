package dev.doorbell.core.fabric.explore.litmus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.explore.litmus.LitmusMachine.MachineResult;
import dev.doorbell.core.fabric.explore.litmus.LitmusTest.Bounds;
import dev.doorbell.core.fabric.explore.litmus.axiom.AxiomaticModel;
import dev.doorbell.core.fabric.explore.litmus.parser.LitmusParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The litmus tests that come with Doorbell: each claims what the memory model chapter implies. */
class LitmusCorpusTest {
  private static final Path FOLDER = Path.of("src/test/resources/litmus");
  private static final Bounds MACHINE = new Bounds(2, 500_000);

  /**
   * No load returns what is stored later, writes have one order, and atomics are atomic for
   * everybody.
   */
  private static final Set<String> TOO_STRONG =
      Set.of(
          "2+2W-relaxed",
          "2+2W-release",
          "CoRW2-weak",
          "DB-reuse-buffer-early",
          "LB-exchange-read",
          "LB-exchange-write",
          "LB-false-dependency",
          "LB-one-dependency",
          "LB-one-sided",
          "LB-relaxed",
          "RMW-add-narrow",
          "RMW-add-one-narrow",
          "RMW-weak-store-between",
          "S-relaxed");

  private static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(file -> file.toString().endsWith(".litmus")).sorted().toList();
    }
  }

  @Test
  void there_are_enough_and_each_is_named_as_its_file() throws IOException, LitmusException {
    assertThat(files()).hasSizeGreaterThanOrEqualTo(140);
    for (Path file : files()) {
      String text = Files.readString(file);
      LitmusTest test = LitmusParser.parse(text);
      assertThat(test.name() + ".litmus").isEqualTo(file.getFileName().toString());
      assertThat(test.description()).as(test.name()).isNotBlank();
      assertThat(text).as("%s says why", test.name()).contains("(* ");
    }
  }

  @Test
  void every_claim_holds_by_the_axioms() throws IOException, LitmusException {
    for (Path file : files()) {
      LitmusResult result = check(file);
      assertThat(result.complete()).as(result.test().name()).isTrue();
      assertThat(result.holds()).as("%s: %s", result.test().name(), result.allowed()).isTrue();
    }
  }

  @Test
  void the_machine_that_explores_kernels_shows_what_the_axioms_allow_but_for_its_known_limits()
      throws IOException, LitmusException {
    Set<String> tooStrong = new TreeSet<>();
    for (Path file : files()) {
      LitmusResult axioms = check(file);
      if (LitmusMachine.usesProxies(axioms.test())) {
        continue; // the machine has none
      }
      MachineResult machine = LitmusMachine.run(axioms.test(), MACHINE);
      String name = axioms.test().name();
      assertThat(machine.complete()).as(name).isTrue();
      assertThat(machine.wrong(axioms)).as(name).isEmpty();
      if (!machine.missed(axioms).isEmpty()) {
        tooStrong.add(name);
      }
      assertThat(machine.deadlocks() > 0).as(name).isEqualTo(!axioms.deadlocks().isEmpty());
    }
    assertThat(tooStrong).isEqualTo(TOO_STRONG);
  }

  @Test
  void the_machine_reports_a_conflict_exactly_where_the_axioms_have_a_data_race()
      throws IOException, LitmusException {
    for (Path file : files()) {
      LitmusResult axioms = check(file);
      if (LitmusMachine.usesProxies(axioms.test())) {
        continue; // the machine has none
      }
      MachineResult machine = LitmusMachine.run(axioms.test(), MACHINE);
      assertThat(machine.conflicts())
          .as("%s: %s", axioms.test().name(), axioms.races())
          .isEqualTo(!axioms.races().isEmpty());
    }
  }

  private static LitmusResult check(Path file) throws IOException, LitmusException {
    return AxiomaticModel.check(LitmusParser.parse(Files.readString(file)), LitmusMachine.USUAL);
  }
}
