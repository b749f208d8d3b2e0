package dev.doorbell.experiments.cli.plan;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/** What the code of each problem means, apart from the case in which it was met. */
public final class ProblemCodes {
  private ProblemCodes() {}

  /**
   * One code.
   *
   * @param code such as {@code DB-C010}
   */
  public record Code(String code, String meaning, String fix) {}

  /** Returns all codes, by area and number. */
  public static List<Code> all() {
    try (InputStream in =
        Objects.requireNonNull(ProblemCodes.class.getResourceAsStream("codes.txt"))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith("DB-"))
          .map(line -> line.split(" \\| ", 3))
          .map(parts -> new Code(parts[0], parts[1], parts[2]))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
