package dev.doorbell.experiments.stats;

import dev.doorbell.experiments.stats.Bootstrap.MedianResampler;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.commons.rng.UniformRandomProvider;
import org.jspecify.annotations.Nullable;

/**
 * The sizes at which two curves of medians over message size change places, with an interval for
 * each place.
 *
 * <p>Between two neighbouring sizes each curve is taken as {@code alpha + N/B}, which the cost of a
 * message very nearly is: then the crossing is exact however far the sizes lie apart, where
 * straight lines in log-log put it 14 % off between 64 KiB and 256 KiB for the paths of one switch.
 * The interval comes from resampling every point of both curves; it says how well the samples fix
 * the crossing, not how well a line stands for what lies between the sizes: {@link Crossing#below}
 * and {@link Crossing#above} are the hard bracket.
 *
 * @param crossings in ascending order of size; empty where one curve is below the other throughout
 * @param firstLead which curve is lower at the smallest size where they differ
 * @param compared number of sizes at which both were known
 */
public record Crossover(List<Crossing> crossings, Lead firstLead, int compared) {

  /** The lower of two curves. */
  public enum Lead {
    A,
    B,
    /** The curves coincide at every size. */
    NEITHER
  }

  /**
   * One change of places.
   *
   * @param size bytes
   * @param interval 95 % bootstrap interval of it, in bytes; of zero width where no sample varies,
   *     empty where a point has too few samples for one
   * @param support share of the resamples that have this crossing: below about 0.95 it may not
   *     exist
   * @param before the curve that is lower up to here; the other is lower from here on
   * @param below the greatest size compared at which {@code before} is still lower
   * @param above the least size compared from which the other is lower
   */
  public record Crossing(
      double size,
      Optional<Interval> interval,
      double support,
      Lead before,
      double below,
      double above) {}

  public Crossover {
    crossings = List.copyOf(crossings);
  }

  /**
   * Compares the medians of {@code a} and {@code b} at the same sizes.
   *
   * @param sizes bytes, positive and ascending
   * @param a samples of the first curve, positive, one array a size
   * @param b samples of the second
   */
  public static Crossover between(double[] sizes, double[][] a, double[][] b, long seed) {
    check(sizes, a, b);
    double[][] sortedA = Arrays.stream(a).map(Quantiles::sortedCopy).toArray(double[][]::new);
    double[][] sortedB = Arrays.stream(b).map(Quantiles::sortedCopy).toArray(double[][]::new);
    double[] gaps = new double[sizes.length];
    for (int i = 0; i < sizes.length; i++) {
      gaps[i] = Quantiles.medianOfSorted(sortedA[i]) - Quantiles.medianOfSorted(sortedB[i]);
    }
    List<Meeting> meetings = meetings(sizes, gaps);
    Lead first =
        Arrays.stream(gaps)
            .filter(gap -> gap != 0)
            .mapToObj(Crossover::lead)
            .findFirst()
            .orElse(Lead.NEITHER);
    return new Crossover(intervals(sizes, sortedA, sortedB, meetings, seed), first, sizes.length);
  }

  private static List<Crossing> intervals(
      double[] sizes, double[][] a, double[][] b, List<Meeting> meetings, long seed) {
    if (meetings.isEmpty()) {
      return List.of();
    }
    boolean carried =
        Stream.of(a, b)
            .flatMap(Arrays::stream)
            .allMatch(samples -> SampleSize.carriesInterval(samples.length));
    UniformRandomProvider random = Bootstrap.random(seed);
    MedianResampler[] resampleA = resamplers(a, random);
    MedianResampler[] resampleB = resamplers(b, random);
    List<List<Double>> found = new ArrayList<>();
    meetings.forEach(meeting -> found.add(new ArrayList<>(Bootstrap.REPLICATES)));
    double[] gaps = new double[sizes.length];
    for (int replicate = 0; replicate < Bootstrap.REPLICATES; replicate++) {
      for (int i = 0; i < sizes.length; i++) {
        gaps[i] = resampleA[i].next() - resampleB[i].next();
      }
      List<Meeting> resampled = meetings(sizes, gaps);
      for (int i = 0; i < meetings.size(); i++) {
        Meeting nearest = nearest(meetings.get(i), resampled);
        if (nearest != null) {
          found.get(i).add(nearest.size());
        }
      }
    }
    List<Crossing> crossings = new ArrayList<>();
    for (int i = 0; i < meetings.size(); i++) {
      crossings.add(crossing(meetings.get(i), found.get(i), carried));
    }
    return crossings;
  }

  private static Crossing crossing(Meeting meeting, List<Double> resampled, boolean carried) {
    double[] places = resampled.stream().mapToDouble(Double::doubleValue).toArray();
    Interval interval =
        places.length == 0
            ? new Interval(meeting.size(), meeting.size())
            : Bootstrap.percentile(places, Bootstrap.LEVEL);
    double support = (double) places.length / Bootstrap.REPLICATES;
    return new Crossing(
        meeting.size(),
        carried ? Optional.of(interval) : Optional.empty(),
        support,
        meeting.before(),
        meeting.below(),
        meeting.above());
  }

  /** The resampled meeting of the same direction that lies nearest in log size. */
  private static @Nullable Meeting nearest(Meeting wanted, List<Meeting> resampled) {
    Meeting best = null;
    double bestDistance = Double.POSITIVE_INFINITY;
    for (Meeting candidate : resampled) {
      double distance = Math.abs(Math.log(candidate.size() / wanted.size()));
      if (candidate.before() == wanted.before() && distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    return best;
  }

  private record Meeting(double size, Lead before, double below, double above) {}

  private static List<Meeting> meetings(double[] sizes, double[] gaps) {
    List<Meeting> meetings = new ArrayList<>();
    int last = -1; // the last size at which the curves differed
    for (int i = 0; i < sizes.length; i++) {
      if (gaps[i] == 0) {
        continue;
      }
      if (last >= 0 && Math.signum(gaps[last]) != Math.signum(gaps[i])) {
        double size =
            i == last + 1
                ? interpolate(sizes[last], gaps[last], sizes[i], gaps[i])
                : Math.sqrt(sizes[last + 1] * sizes[i - 1]); // the middle of a stretch of ties
        meetings.add(new Meeting(size, lead(gaps[last]), sizes[last], sizes[i]));
      }
      last = i;
    }
    return meetings;
  }

  private static double interpolate(double size0, double gap0, double size1, double gap1) {
    return size0 + (size1 - size0) * (gap0 / (gap0 - gap1));
  }

  private static Lead lead(double gap) {
    return gap < 0 ? Lead.A : Lead.B;
  }

  private static MedianResampler[] resamplers(double[][] sorted, UniformRandomProvider random) {
    return Arrays.stream(sorted)
        .map(samples -> new MedianResampler(samples, random))
        .toArray(MedianResampler[]::new);
  }

  private static void check(double[] sizes, double[][] a, double[][] b) {
    if (sizes.length < 2 || sizes.length != a.length || sizes.length != b.length) {
      throw new IllegalArgumentException(
          "sizes="
              + sizes.length
              + " a="
              + a.length
              + " b="
              + b.length
              + ": two or more sizes, with samples of both at each");
    }
    for (int i = 0; i < sizes.length; i++) {
      if (!(sizes[i] > (i == 0 ? 0 : sizes[i - 1]))) {
        throw new IllegalArgumentException("sizes must be positive and ascend: " + sizes[i]);
      }
      if (Arrays.stream(a[i]).anyMatch(v -> !(v > 0))
          || Arrays.stream(b[i]).anyMatch(v -> !(v > 0))) {
        throw new IllegalArgumentException("a sample at size " + sizes[i] + " is not positive");
      }
    }
  }
}
