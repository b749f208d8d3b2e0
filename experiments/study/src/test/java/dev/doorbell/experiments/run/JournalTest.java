package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.Basis;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.plan.FaultTally;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Quantity;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  @TempDir private Path folder;

  @Test
  void what_is_appended_is_read_back() throws IOException {
    Path file = folder.resolve("journal");
    List<JournalEntry> entries = List.of(ok(0), failed(1), ok(2));
    write(file, entries);
    assertThat(Journal.read(file).entries()).isEqualTo(entries);
  }

  @Test
  void a_journal_that_is_not_there_is_empty() throws IOException {
    assertThat(Journal.read(folder.resolve("none")).entries()).isEmpty();
  }

  @Test
  void cut_off_at_any_byte_it_holds_the_lines_before_the_cut() throws IOException {
    Path file = folder.resolve("journal");
    List<JournalEntry> entries = List.of(ok(0), failed(1), ok(2));
    write(file, entries);
    byte[] whole = Files.readAllBytes(file);
    for (int cut = 0; cut <= whole.length; cut++) {
      Files.write(file, Arrays.copyOf(whole, cut));
      int lines = 0;
      for (int i = 0; i < cut; i++) {
        lines += whole[i] == '\n' ? 1 : 0;
      }
      assertThat(Journal.read(file).entries())
          .as("cut at %d", cut)
          .isEqualTo(entries.subList(0, lines));
    }
  }

  @Test
  void cut_off_at_any_byte_it_can_be_gone_on_with() throws IOException {
    Path file = folder.resolve("journal");
    write(file, List.of(ok(0), ok(1)));
    byte[] whole = Files.readAllBytes(file);
    for (int cut = 0; cut <= whole.length; cut++) {
      Files.write(file, Arrays.copyOf(whole, cut));
      int before = Journal.read(file).entries().size();
      write(file, List.of(ok(7)));
      List<JournalEntry> after = Journal.read(file).entries();
      assertThat(after).as("cut at %d", cut).hasSize(before + 1);
      assertThat(after.getLast()).isEqualTo(ok(7));
    }
  }

  @Test
  void a_line_with_any_bit_turned_over_is_not_believed() throws IOException {
    Path file = folder.resolve("journal");
    write(file, List.of(ok(0), ok(0)));
    byte[] whole = Files.readAllBytes(file);
    int secondLine = whole.length / 2;
    for (int at = secondLine; at < whole.length - 1; at++) {
      byte[] damaged = whole.clone();
      damaged[at] ^= 0x04;
      Files.write(file, damaged);
      assertThat(Journal.read(file).entries()).as("byte %d", at).containsExactly(ok(0));
    }
  }

  @Test
  void good_lines_around_a_damaged_one_are_kept_and_it_is_named() throws IOException {
    Path file = folder.resolve("journal.jsonl");
    write(file, List.of(ok(0), failed(1), ok(2)));
    byte[] whole = Files.readAllBytes(file);
    whole[9] ^= 1; // a digit of the first line
    Files.write(file, whole);

    Journal.Contents contents = Journal.read(file);

    assertThat(contents.entries()).containsExactly(failed(1), ok(2));
    assertThat(contents.bad()).hasSize(1);
    assertThat(contents.bad().getFirst().number()).isEqualTo(1);
    assertThat(contents.bad().getFirst().why()).contains("checksum");
  }

  @Test
  void going_on_with_a_damaged_journal_keeps_a_copy_of_it_and_its_good_lines() throws IOException {
    Path file = folder.resolve("journal.jsonl");
    write(file, List.of(ok(0), ok(1), ok(2)));
    byte[] whole = Files.readAllBytes(file);
    whole[whole.length / 2] ^= 1;
    Files.write(file, whole);

    write(file, List.of(ok(7)));

    assertThat(Journal.read(file).entries()).containsExactly(ok(0), ok(2), ok(7));
    assertThat(Journal.read(file).bad()).isEmpty();
    assertThat(folder.resolve("journal.damaged-1.jsonl")).hasBinaryContent(whole);
  }

  @Test
  void a_key_that_only_a_newer_version_knows_is_refused_by_name() throws IOException {
    Path file = folder.resolve("journal.jsonl");
    write(file, List.of(ok(0)));
    String line = Files.readString(file);
    String newer = "{\"flavour\":1," + line.substring(1, line.indexOf('\t'));
    Files.write(file, Journal.ofJson(List.of(newer.getBytes(StandardCharsets.UTF_8))));
    assertThatThrownBy(() -> Journal.read(file))
        .hasMessageContaining("line 1")
        .hasMessageContaining("'flavour'")
        .hasMessageContaining("newer Doorbell");
    String manifest;
    try (InputStream in =
        Manifest.class.getResourceAsStream("/dev/doorbell/experiments/fuzz/manifest.json")) {
      manifest = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    String newerManifest = manifest.replaceFirst("\\{", "{\"flavour\": 1,");
    assertThatThrownBy(() -> Manifest.parse(newerManifest.getBytes(StandardCharsets.UTF_8)))
        .hasMessageContaining("'flavour'");
  }

  @Test
  void a_disk_that_fills_up_in_the_middle_of_a_line_leaves_the_lines_before() throws IOException {
    Path file = folder.resolve("journal");
    write(file, List.of(ok(0)));
    long oneLine = Files.size(file);
    for (long room = 0; room < oneLine; room += 7) {
      Files.delete(file);
      write(file, List.of(ok(0)));
      try (Journal journal = Journal.open(new FullDisk(room), file)) {
        assertThatThrownBy(() -> journal.append(ok(1))).hasMessageContaining("No space left");
      }
      assertThat(Files.size(file)).as("room for %d bytes", room).isEqualTo(oneLine);
      assertThat(Journal.read(file).entries()).containsExactly(ok(0));
    }
  }

  private static void write(Path file, List<JournalEntry> entries) throws IOException {
    try (Journal journal = Journal.open(new FullDisk(Long.MAX_VALUE), file)) {
      for (JournalEntry entry : entries) {
        journal.append(entry);
      }
    }
  }

  private static JournalEntry ok(int index) {
    SequencedMap<String, Quantity> counters = new LinkedHashMap<>();
    counters.put("tlp.bytes", new Quantity(4120, "B"));
    return new JournalEntry(
        index,
        "point-ü-" + index,
        JournalEntry.Status.OK,
        Basis.MODELLED,
        "file.csv",
        "00",
        counters,
        List.of(new Prediction.Term("latency", 0.1 + index, "ns", "T = a\n+ \"b\"", false)),
        64,
        List.of("a note"),
        null,
        List.of(new FaultTally("do: lose", true, 10, index)),
        123,
        1);
  }

  private static JournalEntry failed(int index) {
    return JournalEntry.without(
        index,
        "p" + index,
        JournalEntry.Status.FAILED,
        Problem.of("DB-P001", "p", "no\tresult").fix("try again"),
        List.of(),
        5,
        2);
  }
}
