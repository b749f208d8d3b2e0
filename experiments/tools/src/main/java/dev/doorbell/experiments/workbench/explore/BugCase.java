package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.adapter.Adapter;
import dev.doorbell.core.adapter.Adapters;
import dev.doorbell.core.fabric.explore.model.Policy;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;

/**
 * Ordering bugs of GPU-initiated communication that were reported in public. Some are bugs on
 * certain adapters only. Each is a broken and a fixed kernel in {@code kernels/cases/NAME.cu}.
 *
 * @param word the name on the command line
 */
public record BugCase(String word) {
  private static final int RING = 64;

  private static final String CASES = "cases.properties";

  /** Texts and numbers of all cases, by the name on the command line and a key. */
  private static final Properties DESCRIPTIONS = read();

  private static Properties read() {
    try (Reader in =
        new InputStreamReader(
            Objects.requireNonNull(BugCase.class.getResourceAsStream(CASES), CASES),
            StandardCharsets.UTF_8)) {
      Properties read = new Properties();
      read.load(in);
      return read;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String text(String key) {
    return Objects.requireNonNull(DESCRIPTIONS.getProperty(word + "." + key), key);
  }

  /** Returns the name of the file, and of its kernels before {@code _broken} and {@code _fixed}. */
  public String kernel() {
    return word.replace('-', '_');
  }

  public String summary() {
    return text("summary");
  }

  /** Returns what users observed. */
  public String symptom() {
    return text("symptom");
  }

  public String fix() {
    return text("fix");
  }

  /** Returns the public reports that the case is modelled on, or the document of the protocol. */
  public String sources() {
    return text("sources");
  }

  /** Returns the name of the adapter that shows it. */
  public String nic() {
    return DESCRIPTIONS.getProperty(word + ".nic", Adapter.DEFAULT.name());
  }

  /** Returns true if HCAs that keep InfiniBand's order hide it. */
  public boolean hides() {
    return !nic().equals(Adapter.DEFAULT.name());
  }

  public static List<BugCase> values() {
    return words().stream().map(BugCase::new).toList();
  }

  /** Returns the case of that name; {@code -} and {@code _} are equivalent. */
  public static Optional<BugCase> of(String word) {
    String name = word.toLowerCase(Locale.ROOT).replace('_', '-');
    return values().stream().filter(bug -> bug.word.equals(name)).findFirst();
  }

  public static List<String> words() {
    return List.of(Objects.requireNonNull(DESCRIPTIONS.getProperty("cases"), "cases").split(" "));
  }

  /**
   * Returns the scenario to explore. Its rules are strict, so that a fixed case is right on every
   * machine.
   *
   * @param program one of its two kernels
   */
  public Scenario scenario(Scenario.Program program) {
    int[] shape = Arrays.stream(text("shape").split(" ")).mapToInt(Integer::parseInt).toArray();
    return new Scenario(
        program,
        new Scenario.Load(
            shape[0], shape[1], shape[2], shape[3], shape[4], RING, 0, "thread", "pull"),
        new Scenario.Posting("gpu", "gpu", false, false, false, 1),
        new Scenario.Rules(Policy.STRICT, false),
        Nic.of(Adapters.named(nic())));
  }
}
