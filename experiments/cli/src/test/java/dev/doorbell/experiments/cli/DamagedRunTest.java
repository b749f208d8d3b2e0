package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.cli.command.ExitCode;
import dev.doorbell.experiments.run.FakeRuntime;
import dev.doorbell.experiments.run.FullDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a disk, an editor or another version did to a run is said, and the rest is kept. */
class DamagedRunTest {
  @TempDir private Path folder;
  private final Session session = new Session();
  private final List<String> measured = Collections.synchronizedList(new ArrayList<>());
  private Path run;

  @BeforeEach
  void a_complete_run() throws IOException {
    Path config =
        Files.writeString(
            folder.resolve("small.yaml"),
            """
            experiment: small
            question: Which is faster?
            kernel: put_latency
            axes:
              path: [pull, push.bf]
              size: [64, 4096]
            measure:
              metrics: [latency]
              samples: 10
            """);
    Path runs = folder.resolve("runs");
    session.type("run", config.toString(), "-q", "-j", "1", "--out", runs.toString());
    try (Stream<Path> made = Files.list(runs)) {
      run = made.findFirst().orElseThrow(() -> new AssertionError(session.err()));
    }
    session.runtime.runner =
        (point, _) -> {
          measured.add(point.id());
          return FakeRuntime.result(point);
        };
  }

  @Test
  void a_flipped_digit_in_the_journal_costs_one_point_and_is_named() throws IOException {
    flipFirstDigit(run.resolve("journal.jsonl"));
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.out()).contains("3 of 4 points verified");
    assertThat(session.err()).contains("DB-R010", "journal.jsonl:1", "run --resume");
    assertThat(session.type("plot", run.toString(), "-x", "size")).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-R010");
    assertThat(session.type("compare", run.toString(), run.toString())).isEqualTo(ExitCode.FAILED);
  }

  @Test
  void resume_says_what_it_runs_again_and_why_and_repairs_the_journal() throws IOException {
    flipFirstDigit(run.resolve("journal.jsonl"));
    assertThat(session.type("run", "--resume", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(measured).containsExactly("pull_64");
    assertThat(session.out())
        .contains("journal.jsonl:1  this line is damaged", "1 to run", "pull_64")
        .contains("4 of 4 points verified");
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(run.resolve("journal.damaged-1.jsonl")).exists();
  }

  @Test
  void a_quiet_resume_names_the_damage_too() throws IOException {
    flipFirstDigit(run.resolve("journal.jsonl"));
    assertThat(session.type("run", "-q", "--resume", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.err()).contains("journal.jsonl:1");
  }

  @Test
  void a_damaged_sample_file_is_measured_again_alone() throws IOException {
    Path samples = run.resolve("samples/push.bf_4096.csv");
    byte[] whole = Files.readAllBytes(samples);
    flipFirstDigit(samples);
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-R003", "push.bf_4096.csv", "run --resume " + run);
    assertThat(session.type("run", "--resume", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(measured).containsExactly("push.bf_4096");
    assertThat(samples).hasBinaryContent(whole);
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.OK);
  }

  @Test
  void a_sample_file_that_is_gone_is_measured_again_alone() throws IOException {
    Files.delete(run.resolve("samples/pull_64.csv"));
    assertThat(session.type("run", "--resume", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(measured).containsExactly("pull_64");
  }

  @Test
  void an_edited_config_is_not_gone_on_with() throws IOException {
    Path resolved = run.resolve("resolved.yaml");
    Files.writeString(
        resolved, Files.readString(resolved).replaceFirst("samples: 10", "samples: 3"));
    assertThat(session.type("run", "--resume", run.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("DB-R011", "edited", "undo the edit, or start a new run");
    assertThat(measured).isEmpty();
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-R011");
  }

  @Test
  void a_manifest_of_a_newer_version_is_refused_by_its_key() throws IOException {
    Path manifest = run.resolve("manifest.json");
    Files.writeString(manifest, Files.readString(manifest).replaceFirst("\\{", "{\"flavour\": 1,"));
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("manifest.json", "'flavour'", "newer Doorbell");
  }

  @Test
  void lines_that_are_cut_out_of_a_journal_are_missed() throws IOException {
    Path journal = run.resolve("journal.jsonl");
    List<String> lines = Files.readAllLines(journal);
    for (List<String> left : List.of(lines.subList(0, 3), lines.subList(1, 4), List.<String>of())) {
      Files.write(journal, left);
      assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.FAILED);
      assertThat(session.err()).contains("DB-R012", "journal.jsonl", "changed after the run ended");
    }
    Files.write(journal, List.of(lines.get(0), lines.get(2), lines.get(3)));
    assertThat(session.type("verify", run.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("journal.jsonl:2", "another line before it");
    Files.delete(journal);
    assertThat(session.type("compare", "--gate", run.toString(), run.toString()))
        .isNotEqualTo(ExitCode.OK);
    assertThat(session.type("run", "--resume", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(measured).hasSize(4);
    assertThat(session.type("verify", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.out()).contains("intact  sealed; samples of 4 of 4 points");
  }

  @Test
  void a_basis_is_not_changed_by_an_editor() throws IOException {
    Path manifest = run.resolve("manifest.json");
    String text = Files.readString(manifest);
    String basis = text.replaceFirst("(?s).*\"basis\" : \"([A-Z]+)\".*", "$1");
    Files.writeString(manifest, text.replace(basis, "MEASURED"));
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.USAGE);
    assertThat(session.err()).contains("manifest.json", "it says that numbers are measured");
    assertThat(session.out()).doesNotContain("MEASURED RESULT");
    Files.writeString(manifest, text.replace("\"tags\" : [ ]", "\"tags\" : [ \"best\" ]"));
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-R012", "manifest.json");
  }

  @Test
  void a_seal_that_is_gone_is_missed_and_made_again_by_going_on() throws IOException {
    Files.delete(run.resolve("seal.json"));
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("DB-R012", "ended with a seal");
    assertThat(session.type("run", "--resume", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.OK);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "{\"sha256\": null}", "{\"sha256\": {\"a\": null}}", "[]", ""})
  void a_seal_that_is_none_is_said_to_be_damaged(String text) throws IOException {
    Files.writeString(run.resolve("seal.json"), text);
    assertThat(session.type("table", run.toString())).isEqualTo(ExitCode.FAILED);
    assertThat(session.err()).contains("seal.json  DB-R012  it is no seal any more", "--resume");
    assertThat(session.type("run", "--resume", run.toString())).isEqualTo(ExitCode.OK);
    assertThat(session.type("verify", run.toString())).isEqualTo(ExitCode.OK);
  }

  @Test
  void a_disk_without_room_for_a_run_names_a_folder_that_exists() {
    for (long room = 0; room < 4_000; room += 500) {
      session.disk = new FullDisk(room);
      Path runs = folder.resolve("full" + room);
      session.type("run", folder.resolve("small.yaml").toString(), "--out", runs.toString());
      assertThat(session.err()).as("room %d", room).doesNotContain(".part");
      if (session.err().contains("DB-R001")) {
        assertThat(session.err()).contains("full" + room + "  DB-R001", "No space left on device");
      }
    }
  }

  private static void flipFirstDigit(Path file) throws IOException {
    String text = Files.readString(file);
    int at = 0;
    while (!Character.isDigit(text.charAt(at))) {
      at++;
    }
    char other = text.charAt(at) == '1' ? '2' : '1';
    Files.writeString(file, text.substring(0, at) + other + text.substring(at + 1));
  }
}
