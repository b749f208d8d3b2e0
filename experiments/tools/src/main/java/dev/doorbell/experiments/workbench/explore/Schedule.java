package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.fabric.explore.model.CalmChooser.Stretch;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32;

/**
 * A run that can be repeated: {@code SEED~CALM@TURNS#SCENARIO}. Every choice of a run follows from
 * its seed and from the stretches in which it was calmed to make it short, so the first turns are
 * the schedule; the last part says of which scenario.
 *
 * @param seed of the run
 * @param calm stretches of choices as a simple machine would make them
 * @param turns until the finding
 * @param scenario a checksum of the program, the load, the posting and the rules
 */
public record Schedule(long seed, List<Stretch> calm, long turns, String scenario) {
  private static final Pattern FORM =
      Pattern.compile("(\\d+)((?:~\\d+-\\d+)*)@(\\d+)#([0-9a-f]{8})");

  /** The first {@code turns} turns of the run of a scenario or a program with {@code seed}. */
  public static Schedule of(Object scenario, long seed, long turns) {
    return new Schedule(seed, List.of(), turns, checksum(scenario));
  }

  /** Returns the run with another stretch calmed, up to {@code turns}. */
  Schedule calmed(Stretch more, long turns) {
    List<Stretch> stretches = new ArrayList<>();
    Stretch last = null;
    for (Stretch next : sorted(more)) {
      if (last != null && next.from() <= last.to()) {
        last = new Stretch(last.from(), Math.max(last.to(), next.to()));
        stretches.set(stretches.size() - 1, last);
      } else {
        stretches.add(next);
        last = next;
      }
    }
    return new Schedule(seed, List.copyOf(stretches), turns, scenario);
  }

  private List<Stretch> sorted(Stretch more) {
    List<Stretch> all = new ArrayList<>(calm);
    all.add(more);
    all.sort((a, b) -> Long.compare(a.from(), b.from()));
    return all;
  }

  /** Returns the schedule with another number of turns. */
  Schedule upTo(long other) {
    return new Schedule(seed, calm, other, scenario);
  }

  /** Parses the form of {@link #toString}. */
  public static Optional<Schedule> parse(String text) {
    Matcher matcher = FORM.matcher(text.strip());
    if (!matcher.matches()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new Schedule(
              Long.parseLong(matcher.group(1)),
              stretches(matcher.group(2)),
              Long.parseLong(matcher.group(3)),
              matcher.group(4)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static List<Stretch> stretches(String text) {
    List<Stretch> stretches = new ArrayList<>();
    for (String part : text.split("~", -1)) {
      int dash = part.indexOf('-');
      if (dash > 0) {
        stretches.add(
            new Stretch(
                Long.parseLong(part.substring(0, dash)), Long.parseLong(part.substring(dash + 1))));
      }
    }
    return List.copyOf(stretches);
  }

  /** Returns true if the schedule belongs to {@code other}. */
  public boolean isOf(Scenario other) {
    return scenario.equals(checksum(other));
  }

  private static String checksum(Object scenario) {
    CRC32 sum = new CRC32();
    sum.update(scenario.toString().getBytes(StandardCharsets.UTF_8));
    return "%08x".formatted(sum.getValue());
  }

  @Override
  public String toString() {
    return seed
        + calm.stream().map(c -> "~" + c.from() + "-" + c.to()).collect(Collectors.joining())
        + "@"
        + turns
        + "#"
        + scenario;
  }
}
