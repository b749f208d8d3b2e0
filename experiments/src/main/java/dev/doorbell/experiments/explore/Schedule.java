package dev.doorbell.experiments.explore;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * A run that can be had again: {@code SEED@TURNS#SCENARIO}. Every choice of a run follows from its
 * seed, so the first turns of that seed are the schedule; the third part says of which scenario.
 *
 * @param seed of the run
 * @param turns until the finding
 * @param scenario a checksum of the program, the load, the posting and the rules
 */
public record Schedule(long seed, long turns, String scenario) {
  private static final Pattern FORM = Pattern.compile("(\\d+)@(\\d+)#([0-9a-f]{8})");

  /** The first {@code turns} turns of a scenario's run with {@code seed}. */
  public static Schedule of(Scenario scenario, long seed, long turns) {
    return new Schedule(seed, turns, checksum(scenario));
  }

  /** Reads what {@link #toString} wrote. */
  public static Optional<Schedule> parse(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new Schedule(
              Long.parseLong(matcher.group(1)),
              Long.parseLong(matcher.group(2)),
              matcher.group(3)));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  /** True when it was made for {@code other}. */
  public boolean isOf(Scenario other) {
    return scenario.equals(checksum(other));
  }

  private static String checksum(Scenario scenario) {
    CRC32 sum = new CRC32();
    sum.update(scenario.toString().getBytes(StandardCharsets.UTF_8));
    return "%08x".formatted(sum.getValue());
  }

  @Override
  public String toString() {
    return seed + "@" + turns + "#" + scenario;
  }
}
