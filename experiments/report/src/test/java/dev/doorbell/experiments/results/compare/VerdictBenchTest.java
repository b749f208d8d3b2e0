package dev.doorbell.experiments.results.compare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.experiments.results.compare.ChangeVerdict.Direction;
import dev.doorbell.experiments.results.compare.RunComparison.Rules;
import dev.doorbell.experiments.stats.Change;
import dev.doorbell.experiments.stats.SampleSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.commons.math3.distribution.BinomialDistribution;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Ten thousand pairs of synthetic runs whose true change is known: how many verdicts are false
 * alarms, and how many changes are missed. The table of docs/statistics.md is what this prints.
 */
@Tag("slow")
class VerdictBenchTest {
  private static final Path PAGE = Path.of("../docs/statistics.md");
  private static final String BEGIN = "<!-- verdicts: begin -->\n";
  private static final String END = "<!-- verdicts: end -->";
  private static final int PAIRS = 100;
  private static final int[] COUNTS = {3, 6, 10, 20, 60};
  private static final double[] EFFECTS = {0, 0.02, 0.05, 0.1, 0.5};
  private static final Rules RULES = new Rules(Set.of(), 0.05, 0.01);

  /** Noise of about 5 % of 1000 ns, in the shapes that samples of latency have. */
  private enum Shape {
    NORMAL {
      @Override
      double draw(Random random) {
        return 1000 + 50 * random.nextGaussian();
      }
    },
    LONG_TAIL {
      @Override
      double draw(Random random) {
        return 950 + 50 * Math.exp(0.8 * random.nextGaussian());
      }
    },
    TWO_PEAKS {
      @Override
      double draw(Random random) {
        return (random.nextBoolean() ? 960 : 1040) + 15 * random.nextGaussian();
      }
    },
    COARSE_CLOCK {
      @Override
      double draw(Random random) {
        return 32 * Math.rint((1000 + 50 * random.nextGaussian()) / 32);
      }
    };

    abstract double draw(Random random);
  }

  /** Verdicts on pairs with one true change and one number of samples. */
  private record Cell(int n, double effect, Map<ChangeVerdict, Integer> verdicts) {
    int of(ChangeVerdict verdict) {
      return verdicts.getOrDefault(verdict, 0);
    }

    int pairs() {
      return verdicts.values().stream().mapToInt(Integer::intValue).sum();
    }

    /** Anything but a regression, where there is one; a change of any kind, where there is none. */
    int wrong() {
      return effect == 0
          ? of(ChangeVerdict.REGRESSED) + of(ChangeVerdict.IMPROVED)
          : pairs() - of(ChangeVerdict.REGRESSED);
    }
  }

  private static Cell cell(int n, double effect) {
    Map<ChangeVerdict, Integer> verdicts = new LinkedHashMap<>();
    for (Shape shape : Shape.values()) {
      for (int pair = 0; pair < PAIRS; pair++) {
        Random random = new Random(((shape.name().hashCode() * 31L + n) * 31 + pair) * 1009);
        double[] first = IntStream.range(0, n).mapToDouble(_ -> shape.draw(random)).toArray();
        double[] second =
            IntStream.range(0, n).mapToDouble(_ -> (1 + effect) * shape.draw(random)).toArray();
        Change change = Change.ofOwned(first, second, pair);
        verdicts.merge(
            ChangeVerdict.tested(
                change, change.ranks().p(), SampleSize.leastP(n, n), Direction.LOWER, RULES),
            1,
            Integer::sum);
      }
    }
    return new Cell(n, effect, verdicts);
  }

  private static String table(List<Cell> cells) {
    StringBuilder text = new StringBuilder("| n | false alarms |");
    for (double effect : EFFECTS) {
      text.append(effect == 0 ? "" : " missed: +%.0f %% |".formatted(100 * effect));
    }
    text.append("\n| ---: | ---: |").append(" ---: |".repeat(EFFECTS.length - 1)).append('\n');
    for (int n : COUNTS) {
      text.append("| ").append(n).append(" |");
      for (Cell cell : cells) {
        if (cell.n() == n) {
          text.append(
              cell.of(ChangeVerdict.UNDECIDED) == cell.pairs()
                  ? " undecided |"
                  : " %.1f %% |".formatted(100.0 * cell.wrong() / cell.pairs()));
        }
      }
      text.append('\n');
    }
    return text.toString();
  }

  @Test
  void false_alarms_stay_at_their_level_and_the_page_says_what_is_missed() throws IOException {
    List<Cell> cells =
        IntStream.of(COUNTS)
            .parallel()
            .boxed()
            .flatMap(n -> IntStream.range(0, EFFECTS.length).mapToObj(e -> cell(n, EFFECTS[e])))
            .toList();
    assertThat(cells.stream().mapToInt(Cell::pairs).sum()).isEqualTo(10_000);
    int alarms = cells.stream().filter(c -> c.effect() == 0).mapToInt(Cell::wrong).sum();
    int like = cells.stream().filter(c -> c.effect() == 0).mapToInt(Cell::pairs).sum();
    assertThat(alarms)
        .as("false alarms of %d pairs", like)
        .isLessThanOrEqualTo(
            new BinomialDistribution(null, like, RULES.alpha())
                .inverseCumulativeProbability(0.999));
    for (Cell cell : cells) {
      assertThat(cell.of(ChangeVerdict.UNDECIDED))
          .as("three samples decide nothing, six do: n = %d", cell.n())
          .isEqualTo(cell.n() < 4 ? cell.pairs() : 0);
      if (cell.effect() >= 0.5 && cell.n() >= 6) {
        assertThat(cell.wrong()).as("%s", cell).isZero();
      }
    }
    String page = Files.readString(PAGE);
    int from = page.indexOf(BEGIN) + BEGIN.length();
    int to = page.indexOf(END);
    String table = "\n" + table(cells) + "\n";
    if (Boolean.getBoolean("docs.write")) {
      Files.writeString(PAGE, page.substring(0, from) + table + page.substring(to));
      return;
    }
    assertThat(page.substring(from, to))
        .as("run: ./doorbell test --slow experiments VerdictBenchTest -Ddocs.write=true")
        .isEqualTo(table);
  }
}
