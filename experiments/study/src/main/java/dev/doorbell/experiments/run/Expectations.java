package dev.doorbell.experiments.run;

import dev.doorbell.experiments.config.condition.Expectation;
import dev.doorbell.experiments.config.condition.Expectation.Contrast;
import dev.doorbell.experiments.config.condition.PointCondition;
import dev.doorbell.experiments.config.schema.Amounts;
import dev.doorbell.experiments.config.value.Axis;
import dev.doorbell.experiments.config.value.Value;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.stats.Crossover;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Holds a run against what its config expects. A pure function of the samples: medians are
 * compared, without regard to their intervals.
 */
public final class Expectations {
  private final RunData data;

  private Expectations(RunData data) {
    this.data = data;
  }

  public enum Verdict {
    MET("met"),
    NOT_MET("NOT MET"),
    /** The run has not what it speaks of. */
    NOT_TESTABLE("not testable");

    private final String text;

    Verdict(String text) {
      this.text = text;
    }

    /** Returns the word of tables. */
    public String text() {
      return text;
    }
  }

  /**
   * One of them.
   *
   * @param why what was found, or what is missing
   */
  public record Found(Expectation expectation, Verdict verdict, String why) {}

  /** Every expectation of the run's config, in its order. */
  public static List<Found> of(RunData data) {
    Expectations all = new Expectations(data);
    return data.derived().expectations(() -> data.expectations().stream().map(all::found).toList());
  }

  /** Returns true if the run has what an expectation speaks of, and it came otherwise. */
  public static boolean anyNotMet(RunData data) {
    return of(data).stream().anyMatch(found -> found.verdict() == Verdict.NOT_MET);
  }

  private Found found(Expectation expectation) {
    return switch (expectation) {
      case Expectation.Ordered ordered -> ordered(ordered);
      case Expectation.Equal equal -> equal(equal);
      case Expectation.Trend trend -> trend(trend);
      case Expectation.Within within -> within(within);
      case Expectation.Modelled modelled -> modelled(modelled);
      case Expectation.Crossing crossing -> crossing(crossing);
    };
  }

  private static final class Tally {
    private int seen;
    private int good;
    private double worst = Double.NEGATIVE_INFINITY;
    private String text = "";

    /**
     * @param badness the greater, the farther from what is expected
     */
    void add(boolean holds, double badness, String what) {
      seen++;
      good += holds ? 1 : 0;
      if (badness > worst) {
        worst = badness;
        text = what;
      }
    }

    Found found(Expectation expectation, String things, String missing) {
      if (seen == 0) {
        return new Found(expectation, Verdict.NOT_TESTABLE, missing);
      }
      return new Found(
          expectation,
          good == seen ? Verdict.MET : Verdict.NOT_MET,
          "%d of %d %s; %s: %s"
              .formatted(good, seen, things, good == seen ? "closest" : "farthest off", text));
    }
  }

  private Found ordered(Expectation.Ordered expectation) {
    Tally tally = new Tally();
    for (Pair pair : pairs(expectation.scope(), expectation.of(), expectation.than())) {
      double more = expectation.greater() ? pair.of : pair.than;
      double less = expectation.greater() ? pair.than : pair.of;
      double wanted = expectation.by() * less;
      boolean holds = expectation.by() == 1 ? more > less : more >= wanted;
      tally.add(holds, ratio(wanted, more), pair.text(expectation));
    }
    return tally.found(expectation, "pairs", "the run has no such pair of points");
  }

  private Found equal(Expectation.Equal expectation) {
    Tally tally = new Tally();
    for (Pair pair : pairs(expectation.scope(), expectation.of(), expectation.than())) {
      double off = Math.abs(pair.of - pair.than) / Math.abs(pair.than);
      boolean holds = pair.of == pair.than || off <= expectation.tolerance();
      tally.add(holds, pair.of == pair.than ? 0 : off, pair.text(expectation));
    }
    return tally.found(expectation, "pairs", "the run has no such pair of points");
  }

  private Found trend(Expectation.Trend expectation) {
    Tally tally = new Tally();
    for (Map.Entry<String, List<Place>> line : lines(expectation).entrySet()) {
      List<Place> places = line.getValue();
      if (places.size() < 2) {
        continue;
      }
      double wrong = Double.NEGATIVE_INFINITY;
      for (int i = 1; i < places.size(); i++) {
        wrong = Math.max(wrong, wrongStep(expectation, places.get(i - 1), places.get(i)));
      }
      double first = places.getFirst().value;
      double last = places.getLast().value;
      boolean goes =
          switch (expectation.course()) {
            case RISES -> last > first;
            case FALLS -> last < first;
            case LEVEL -> true;
          };
      if (expectation.course() == Expectation.Trend.Course.LEVEL) {
        double least = places.stream().mapToDouble(Place::value).min().orElseThrow();
        double most = places.stream().mapToDouble(Place::value).max().orElseThrow();
        wrong = least == most ? 0 : (most - least) / Math.abs(least);
      }
      tally.add(
          goes && wrong <= expectation.tolerance(),
          goes ? wrong : Double.MAX_VALUE,
          "%s from %s to %s"
              .formatted(line.getKey(), amount(expectation, first), amount(expectation, last))
              .strip());
    }
    return tally.found(
        expectation, "lines", "no line of the run has two values of " + expectation.over());
  }

  /**
   * Returns by which share of itself a step goes the wrong way; negative where it goes the right
   * one.
   */
  private static double wrongStep(Expectation.Trend expectation, Place from, Place to) {
    double rise = from.value == to.value ? 0 : (to.value - from.value) / Math.abs(from.value);
    return expectation.course() == Expectation.Trend.Course.RISES ? -rise : rise;
  }

  private Found within(Expectation.Within expectation) {
    Tally tally = new Tally();
    for (Place place : places(expectation.scope())) {
      double value = place.value;
      boolean holds = expectation.lower() <= value && value <= expectation.upper();
      double badness = Math.max(expectation.lower() - value, value - expectation.upper());
      tally.add(
          holds, badness, "%s at %s".formatted(amount(expectation, value), place.row.pointId()));
    }
    return tally.found(expectation, "points", noValue(expectation));
  }

  private Found modelled(Expectation.Modelled expectation) {
    Tally tally = new Tally();
    for (Place place : places(expectation.scope())) {
      MetricRow metric = place.row.metrics().get(expectation.scope().metric());
      Optional<Prediction.Term> term = metric == null ? Optional.empty() : metric.model();
      if (term.isPresent() && term.get().value() != 0) {
        double expected = term.get().value() + expectation.plus();
        double off = place.value / expected - 1;
        double badness = term.get().ceiling() ? off : term.get().floor() ? -off : Math.abs(off);
        tally.add(
            badness <= expectation.tolerance(),
            badness,
            "%s against %s at %s"
                .formatted(
                    amount(expectation, place.value),
                    amount(expectation, expected),
                    place.row.pointId()));
      }
    }
    return tally.found(expectation, "points", "the closed forms say nothing of these points");
  }

  private Found crossing(Expectation.Crossing expectation) {
    Contrast contrast = expectation.contrast();
    List<SummaryRow> rows =
        data.rows().stream().filter(row -> all(expectation.scope().where(), row)).toList();
    Tally tally = new Tally();
    int tooNarrow = 0;
    for (Crossings.Found found : Crossings.of(data.with(rows, contrast))) {
      List<Crossover.Crossing> crossings = found.crossover().crossings();
      if (crossings.isEmpty() && !covers(rows, contrast.over(), expectation)) {
        tooNarrow++;
        continue;
      }
      boolean once = crossings.size() == 1 && found.crossover().firstLead() == Crossover.Lead.A;
      double at = crossings.isEmpty() ? Double.NaN : crossings.getFirst().size();
      boolean holds = once && expectation.lower() <= at && at <= expectation.upper();
      String where =
          found.others().entrySet().stream()
              .map(Crossings::place)
              .reduce("", (a, b) -> a + " " + b);
      String lead = SummaryFiles.lead(found, found.crossover().firstLead());
      tally.add(
          holds,
          once ? Math.max(expectation.lower() / at, at / expectation.upper()) : Double.MAX_VALUE,
          (switch (crossings.size()) {
                case 0 -> "%s lower throughout".formatted(lead.isEmpty() ? "neither" : lead);
                case 1 -> "%s lower up to %s".formatted(lead, Amounts.setting(contrast.over(), at));
                default -> "they cross %d times".formatted(crossings.size());
              })
              + where);
    }
    return tally.found(
        expectation,
        "comparisons",
        tooNarrow > 0
            ? "they do not cross, and the run does not cover the range"
            : "the run has no two values of %s for both".formatted(contrast.over()));
  }

  /** Returns whether points lie on both sides of where the crossing is expected. */
  private static boolean covers(
      List<SummaryRow> rows, String over, Expectation.Crossing expectation) {
    boolean below = false;
    boolean above = false;
    for (SummaryRow row : rows) {
      if (row.axes().get(over) instanceof Value.Whole(long place)) {
        below |= place <= expectation.lower();
        above |= place >= expectation.upper();
      }
    }
    return below && above;
  }

  private record Place(SummaryRow row, double value) {}

  /** Two points that differ in what they are compared by alone. */
  private record Pair(SummaryRow row, double of, double than) {
    String text(Expectation expectation) {
      return "%s against %s (%s times) at %s"
          .formatted(
              amount(expectation, of),
              amount(expectation, than),
              Amounts.number(ratio(of, than)),
              row.pointId());
    }
  }

  private List<Place> places(Expectation.Scope scope) {
    List<Place> places = new ArrayList<>();
    for (SummaryRow row : data.rows()) {
      OptionalDouble value = row.value(scope.metric());
      if (value.isPresent() && all(scope.where(), row)) {
        places.add(new Place(row, value.getAsDouble()));
      }
    }
    return places;
  }

  private List<Pair> pairs(
      Expectation.Scope scope, List<PointCondition> of, List<PointCondition> than) {
    Set<String> compared = new HashSet<>();
    of.forEach(condition -> compared.add(condition.setting()));
    than.forEach(condition -> compared.add(condition.setting()));
    List<Place> places = places(scope);
    List<Pair> pairs = new ArrayList<>();
    for (Place one : places) {
      if (all(of, one.row)) {
        for (Place other : places) {
          if (!other.equals(one) && all(than, other.row) && same(one.row, other.row, compared)) {
            pairs.add(new Pair(one.row, one.value, other.value));
          }
        }
      }
    }
    return pairs;
  }

  private static boolean same(SummaryRow one, SummaryRow other, Set<String> but) {
    return one.axes().entrySet().stream()
        .allMatch(
            entry ->
                but.contains(entry.getKey())
                    || entry.getValue().equals(other.axes().get(entry.getKey())));
  }

  /** Points that differ in their place along the axis alone, in its order, by what they share. */
  private SequencedMap<String, List<Place>> lines(Expectation.Trend expectation) {
    List<Axis> others =
        data.axes().stream()
            .filter(axis -> !axis.name().equals(expectation.over()) && axis.values().size() > 1)
            .toList();
    List<Value> order =
        data.axes().stream()
            .filter(axis -> axis.name().equals(expectation.over()))
            .flatMap(axis -> axis.values().stream())
            .toList();
    SequencedMap<String, List<Place>> lines = new LinkedHashMap<>();
    for (Value value : order) {
      for (Place place : places(expectation.scope())) {
        if (value.equals(place.row.axes().get(expectation.over()))) {
          List<String> name = new ArrayList<>();
          for (Axis axis : others) {
            Value at = place.row.axes().get(axis.name());
            name.add(at == null ? "" : Crossings.place(Map.entry(axis.name(), at)));
          }
          lines.computeIfAbsent(String.join(" ", name), _ -> new ArrayList<>()).add(place);
        }
      }
    }
    return lines;
  }

  private static boolean all(List<PointCondition> conditions, SummaryRow row) {
    return conditions.stream().allMatch(condition -> condition.holds(row.axes()));
  }

  private static String noValue(Expectation expectation) {
    return "no point of the run has %s there".formatted(expectation.scope().metric());
  }

  private static String amount(Expectation expectation, double value) {
    return Amounts.metric(expectation.scope().metric(), value);
  }

  private static double ratio(double of, double to) {
    return of == to ? 1 : of / to;
  }
}
