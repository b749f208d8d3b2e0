package dev.doorbell.experiments.results.paper;

import dev.doorbell.core.Sha256;
import dev.doorbell.experiments.config.condition.PointCondition;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * The artifact of a paper as one archive, the same bytes whenever it is packed: what reviewers
 * check, with raw samples apart from what is made of them.
 */
public final class PaperPack {
  /** The first moment that a zip file can hold. */
  private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  /** Files of a run directory that depend on its samples alone. */
  private static final List<String> RUN_FILES =
      List.of("config.yaml", "resolved.yaml", "summary.csv", "summary.json");

  private final SortedMap<String, byte[]> entries = new TreeMap<>();

  private PaperPack() {}

  /**
   * Packs a paper.
   *
   * @param generated files of {@code generated/}
   * @param runs run directories by name
   * @param calibrations files that calibrations wrote, by name
   * @param doorbell version that built it
   */
  public static byte[] of(
      Path folder,
      Paper paper,
      Map<String, byte[]> generated,
      Map<String, Path> runs,
      Map<String, Path> calibrations,
      String doorbell)
      throws IOException {
    PaperPack pack = new PaperPack();
    pack.put(Paper.FILE, Files.readAllBytes(folder.resolve(Paper.FILE)));
    for (String text : paper.texts()) {
      pack.put(text, Files.readAllBytes(folder.resolve(text)));
    }
    for (String more : List.of("README.md", paper.claims())) {
      if (!more.isEmpty() && Files.isRegularFile(folder.resolve(more))) {
        pack.put(more, Files.readAllBytes(folder.resolve(more)));
      }
    }
    generated.forEach((name, bytes) -> pack.put("generated/" + name, bytes));
    for (Map.Entry<String, Path> run : runs.entrySet()) {
      pack.run(run.getKey(), run.getValue());
    }
    for (Map.Entry<String, Path> file : calibrations.entrySet()) {
      pack.put("raw/" + file.getKey() + ".json", Files.readAllBytes(file.getValue()));
    }
    for (Paper.Table table : paper.tables().values()) {
      if (!table.show().equals("residuals")) {
        pack.measured(folder, table.measured());
      }
    }
    for (Paper.Quantity number : paper.numbers().values()) {
      pack.measured(folder, number.file());
    }
    pack.put("CHECKLIST.md", bytes(checklist(paper, doorbell)));
    pack.put("SHA256SUMS", bytes(pack.sums()));
    return pack.zip(paper.name());
  }

  private void run(String name, Path run) throws IOException {
    for (String file : RUN_FILES) {
      if (Files.exists(run.resolve(file))) {
        put("raw/" + name + "/" + file, Files.readAllBytes(run.resolve(file)));
      }
    }
    try (Stream<Path> samples = Files.list(run.resolve("samples"))) {
      for (Path file : samples.sorted().toList()) {
        put("raw/" + name + "/samples/" + file.getFileName(), Files.readAllBytes(file));
      }
    }
  }

  private void measured(Path folder, String file) throws IOException {
    if (!file.isEmpty()) {
      String name = folder.resolve(file).normalize().getFileName().toString();
      put("measured/" + name, Files.readAllBytes(folder.resolve(file)));
    }
  }

  private void put(String name, byte[] bytes) {
    entries.put(name, bytes);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String checklist(Paper paper, String doorbell) {
    StringBuilder text = new StringBuilder();
    text.append("# Artifact of ").append(paper.title()).append("\n\n");
    text.append("| asked for | here |\n| --- | --- |\n");
    row(
        text,
        "claims, with experiment and tolerance",
        paper.claims().isEmpty() ? "none" : "`%s`".formatted(paper.claims()));
    row(text, "figures and tables, each with its run", "`paper.yaml`, tables below");
    row(text, "where every number of the text comes from", "`generated/numbers.md`");
    row(
        text,
        "kick the tyres, a few minutes",
        "`./doorbell paper verify papers/" + paper.name() + "`");
    row(text, "raw data apart from processed", "`raw/` and `generated/`");
    row(
        text,
        "a script a figure that reads raw data only",
        "`./doorbell plot RUN`, as `paper.yaml` says");
    row(
        text,
        "pinned environment",
        "Doorbell " + doorbell + ", JDK 25 or later, Maven; libraries are pinned in its pom.xml");
    row(
        text,
        "hardware",
        "none: everything modelled runs in virtual time on any x86-64 Linux; `measured/` says on"
            + " what it was measured");
    row(text, "manifest of a machine", "`manifest.json` of each run directory that is made here");
    row(text, "tolerance", "none for what is modelled: bytes are compared");
    row(text, "seeds", "in `raw/*/resolved.yaml`");
    row(text, "licence", "Apache-2.0, as Doorbell's");
    row(text, "DOI", "none yet");
    text.append("\n| figure | run | kind | part |\n| --- | --- | --- | --- |\n");
    paper
        .figures()
        .forEach(
            (name, figure) ->
                text.append(
                    "| %s | %s | %s | %s |\n"
                        .formatted(
                            name,
                            figure.run(),
                            figure.shown().kind().word(),
                            escaped(PointCondition.text(figure.shown().only())))));
    text.append("\n| table | run | shows | part |\n| --- | --- | --- | --- |\n");
    paper
        .tables()
        .forEach(
            (name, table) ->
                text.append(
                    "| %s | %s | %s | %s |\n"
                        .formatted(name, table.run(), table.show(), escaped(table.only()))));
    text.append("\n| run | made by |\n| --- | --- |\n");
    paper.runs().forEach((name, run) -> row(text, name, "`" + escaped(command(run)) + "`"));
    return text.toString();
  }

  static String command(Paper.Run run) {
    if (!run.calibrate().isEmpty()) {
      return "doorbell calibrate --gpu vm --topology " + run.calibrate();
    }
    StringBuilder command = new StringBuilder("doorbell run ").append(run.experiment());
    run.set().forEach(set -> command.append(" -s ").append(set));
    return run.only().isEmpty() ? command.toString() : command + " --only '" + run.only() + "'";
  }

  private static void row(StringBuilder text, String what, String here) {
    text.append("| ").append(what).append(" | ").append(here).append(" |\n");
  }

  private static String escaped(String text) {
    return text.replace("|", "\\|");
  }

  private String sums() {
    StringBuilder sums = new StringBuilder();
    entries.forEach(
        (name, bytes) ->
            sums.append(HexFormat.of().formatHex(Sha256.of(bytes)))
                .append("  ")
                .append(name)
                .append('\n'));
    return sums.toString();
  }

  private byte[] zip(String root) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes, StandardCharsets.UTF_8)) {
      for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
        ZipEntry file = new ZipEntry(root + "/" + entry.getKey());
        file.setTimeLocal(NO_TIME);
        zip.putNextEntry(file);
        zip.write(entry.getValue());
        zip.closeEntry();
      }
    }
    return bytes.toByteArray();
  }
}
