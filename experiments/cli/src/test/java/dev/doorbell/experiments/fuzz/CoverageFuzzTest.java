package dev.doorbell.experiments.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Jazzer on every reader, each in a process of its own: {@code -Ddoorbell.fuzz.minutes=60} is the
 * time of all together, {@code -Ddoorbell.fuzz.targets=} names some readers, {@code
 * -Ddoorbell.fuzz.keep=true} adds to the corpus of the tests what reached new code. A finding is
 * made smaller, and stays in {@code experiments/target/fuzz/READER}.
 */
@EnabledIfSystemProperty(named = "doorbell.fuzz.minutes", matches = "[0-9.]+")
class CoverageFuzzTest {
  private static final double MINUTES =
      Double.parseDouble(System.getProperty("doorbell.fuzz.minutes", "0"));

  /** Inputs of a generator that Jazzer starts from, beside seeds and corpus. */
  private static final int GENERATED = 30;

  private static final int LONGEST_INPUT = 1 << 16;

  /** Many times what an input takes: 85 bytes took a minute where twenty others were running. */
  private static final int DEADLINE_SECONDS = 600;

  private static final int AFTERWARDS_SECONDS = 900;

  private static final Pattern EXECUTED =
      Pattern.compile("stat::number_of_executed_units: ([0-9]+)");

  static List<String> chosen() {
    return Targets.chosen();
  }

  @ParameterizedTest
  @MethodSource("chosen")
  @Timeout(value = 1, unit = TimeUnit.DAYS)
  void reads_or_refuses_whatever_reaches_new_code(String name) throws Exception {
    Path work = Path.of("target", "fuzz", name).toAbsolutePath();
    Path seeds = Files.createDirectories(work.resolve("seeds"));
    Path found = Files.createDirectories(work.resolve("found"));
    Path log = work.resolve("log");
    write(name, seeds, work.resolve("words"));
    long seconds = Math.max(1, Math.round(MINUTES * 60 / chosen().size()));
    int status =
        jazzer(
            name,
            log,
            "-max_total_time=" + seconds,
            "-timeout=" + DEADLINE_SECONDS,
            "-max_len=" + LONGEST_INPUT,
            "-dict=" + work.resolve("words"),
            "-artifact_prefix=" + work + File.separator,
            "-print_final_stats=1",
            found.toString(),
            seeds.toString());
    System.out.printf("%s: %s inputs%n", name, executed(log));
    if (status == 0 && Boolean.getBoolean("doorbell.fuzz.keep")) {
      Path kept = Files.createDirectories(work.resolve("kept"));
      jazzer(name, work.resolve("merge"), "-merge=1", "" + kept, "" + seeds, "" + found);
      Corpus.keep(name, kept, Path.of("cli/src/test/resources"));
    }
    for (Path finding : findings(work)) {
      jazzer(
          name,
          work.resolve("minimise"),
          "-minimize_crash=1",
          "-max_total_time=60",
          "-exact_artifact_path=" + finding.resolveSibling("smaller-" + finding.getFileName()),
          finding.toString());
    }
    assertThat(findings(work)).as("see %s", log).isEmpty();
    assertThat(status).as("see %s", log).isZero();
  }

  private static String executed(Path log) throws IOException {
    Matcher executed = EXECUTED.matcher(Files.readString(log, StandardCharsets.ISO_8859_1));
    return executed.find() ? executed.group(1) : "an unknown number of";
  }

  private static List<Path> findings(Path work) throws IOException {
    try (Stream<Path> files = Files.list(work)) {
      return files
          .filter(file -> file.getFileName().toString().matches("(crash|timeout|oom)-.*"))
          .sorted()
          .toList();
    }
  }

  /** Writes what Jazzer starts from, and words that mean something to the reader. */
  private static void write(String name, Path seeds, Path words) throws Exception {
    FuzzTarget target = Targets.named(name);
    List<byte[]> inputs = new ArrayList<>(Corpus.of(name));
    StringBuilder dictionary = new StringBuilder();
    try (FuzzTarget.Session session = target.opener().open()) {
      inputs.addAll(session.seeds());
      Mutator mutator = new Mutator(session.seeds(), session.dictionary());
      for (int i = 0; i < GENERATED; i++) {
        inputs.add(session.generate(new SplittableRandom(i), mutator));
      }
      for (byte[] word : session.dictionary()) {
        if (word.length > 0 && word.length <= 64) {
          dictionary.append('"');
          for (byte each : word) {
            dictionary.append(String.format(Locale.ROOT, "\\x%02x", each));
          }
          dictionary.append("\"\n");
        }
      }
    }
    for (int i = 0; i < inputs.size(); i++) {
      Files.write(seeds.resolve("%06d".formatted(i)), inputs.get(i));
    }
    Files.writeString(words, dictionary);
  }

  private static int jazzer(String name, Path log, String... options)
      throws IOException, InterruptedException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx1g",
                "-XX:+UseSerialGC",
                "-XX:+EnableDynamicAgentLoading",
                "-Djdk.attach.allowAttachSelf=true",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.awt.headless=true",
                "-cp",
                System.getProperty("java.class.path"),
                "com.code_intelligence.jazzer.Jazzer",
                "--target_class=" + CoverageTarget.class.getName(),
                "--target_args=" + name,
                "--instrumentation_includes=dev.doorbell.**",
                "--custom_hook_includes=dev.doorbell.**",
                "--reproducer_path=" + log.resolveSibling(".")));
    command.addAll(List.of(options));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    // Jazzer ends by itself, but for a minimiser that finds ever smaller inputs.
    if (!process.waitFor(Math.round(MINUTES * 60) + AFTERWARDS_SECONDS, TimeUnit.SECONDS)) {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
    return process.waitFor();
  }
}
