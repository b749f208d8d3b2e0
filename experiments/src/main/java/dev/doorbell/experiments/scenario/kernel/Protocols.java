package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.KernelDescriptor.Measures;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.kernels.KernelCatalogue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The kernels that points may name: Doorbell's own, and those that the user brought. */
public final class Protocols {
  private static final String LATENCY = "latency";
  private static final long MOST_BYTES = 1L << 30;

  private final KernelCatalogue catalogue;

  /** Of Doorbell's own those that were asked for; an experiment names one or two of many. */
  private final Map<String, Protocol> read;

  private final SequencedMap<String, Protocol> brought;

  private Protocols(
      KernelCatalogue catalogue, Map<String, Protocol> read, Map<String, Protocol> brought) {
    this.catalogue = catalogue;
    this.read = read;
    this.brought = new LinkedHashMap<>(brought);
  }

  public static Protocols ofCatalogue() {
    return new Protocols(KernelCatalogue.load(), new ConcurrentHashMap<>(), Map.of());
  }

  public Protocols with(List<UserKernel> kernels) {
    Map<String, Protocol> all = new LinkedHashMap<>(brought);
    for (UserKernel kernel : kernels) {
      if (catalogue.find(kernel.name()).isPresent()
          || all.putIfAbsent(kernel.name(), Protocol.of(kernel)) != null) {
        throw new IllegalArgumentException("two kernels are named " + kernel.name());
      }
    }
    return new Protocols(catalogue, read, all);
  }

  /** Doorbell's own first. */
  public List<String> names() {
    List<String> names = new ArrayList<>(catalogue.names());
    names.addAll(brought.keySet());
    return names;
  }

  public List<Protocol> all() {
    return names().stream().map(this::find).filter(Objects::nonNull).toList();
  }

  private @Nullable Protocol find(String name) {
    Protocol own = brought.get(name);
    return own != null
        ? own
        : catalogue
            .find(name)
            .map(kernel -> read.computeIfAbsent(name, _ -> Protocol.of(catalogue, kernel)))
            .orElse(null);
  }

  /** What of the point's kernels measures latency, or null. */
  public @Nullable Protocol latency(Point point) {
    return measuring(point, Measures.LATENCY);
  }

  /** What of the point's kernels measures goodput, and is what traffic is counted of; or null. */
  public @Nullable Protocol goodput(Point point) {
    return measuring(point, Measures.GOODPUT);
  }

  private @Nullable Protocol measuring(Point point, Measures what) {
    for (String name : point.kernels()) {
      Protocol protocol = find(name);
      if (protocol != null && protocol.descriptor().measures() == what) {
        return protocol;
      }
    }
    return null;
  }

  /** Whether a kernel of the point runs at however many ranks there are. */
  public boolean runAmongAll(Point point) {
    return point.kernels().stream()
        .map(this::find)
        .anyMatch(protocol -> protocol != null && protocol.descriptor().launch().allRanks());
  }

  public static boolean wantsLatency(Point point) {
    return point.metrics().contains(LATENCY);
  }

  /** Everything but latency is of the stream of messages. */
  public static boolean wantsGoodput(Point point) {
    return point.metrics().stream().anyMatch(metric -> !metric.equals(LATENCY));
  }

  /** What is impossible about the kernels of a point. */
  public void check(Point point, List<Problem> problems) {
    List<Protocol> chosen = new ArrayList<>();
    for (String name : point.kernels()) {
      Protocol protocol = find(name);
      if (protocol == null) {
        problems.add(
            Problem.of("DB-P019", point.id(), "there is no kernel '%s'".formatted(name))
                .fix("doorbell list kernels; --kernels DIR names the folder of your own"));
      } else {
        chosen.add(protocol);
      }
    }
    if (chosen.size() < point.kernels().size()) {
      return;
    }
    check(point, Measures.LATENCY, wantsLatency(point), "latency", "put_latency", problems, chosen);
    check(
        point,
        Measures.GOODPUT,
        wantsGoodput(point),
        point.metrics().stream().filter(metric -> !metric.equals(LATENCY)).findFirst().orElse(""),
        "put_bandwidth",
        problems,
        chosen);
  }

  private static void check(
      Point point,
      Measures what,
      boolean wanted,
      String metric,
      String example,
      List<Problem> problems,
      List<Protocol> chosen) {
    List<Protocol> able =
        chosen.stream().filter(protocol -> protocol.descriptor().measures() == what).toList();
    if (wanted && able.isEmpty()) {
      problems.add(
          Problem.of(
                  "DB-P017",
                  point.id(),
                  "no kernel of %s measures %s"
                      .formatted(String.join(", ", point.kernels()), metric))
              .fix("add one that does, such as %s, or drop the metric".formatted(example)));
    }
    if (wanted && able.size() > 1) {
      problems.add(
          Problem.of(
                  "DB-P017",
                  point.id(),
                  "%s and %s both measure %s"
                      .formatted(able.get(0).name(), able.get(1).name(), metric))
              .effect("a point has one sample of each metric")
              .fix("name one of them; run the other in an experiment of its own"));
    }
    for (Protocol protocol : wanted ? able : List.<Protocol>of()) {
      checkRanks(point, protocol, problems);
      String path = point.text("path");
      if (!protocol.descriptor().takes(path)) {
        problems.add(
            Problem.of(
                    "DB-P018",
                    point.id(),
                    "kernel %s does not take the path %s".formatted(protocol.name(), path))
                .effect(
                    "its descriptor names %s"
                        .formatted(
                            String.join(
                                ", ",
                                TransferPath.words().stream()
                                    .filter(protocol.descriptor()::takes)
                                    .toList())))
                .fix("leave the path out, or exclude: { path: %s }".formatted(path)));
      }
    }
  }

  private static void checkRanks(Point point, Protocol protocol, List<Problem> problems) {
    long ranks = point.whole("ranks");
    if (!protocol.descriptor().launch().allRanks()) {
      if (ranks != 2) {
        problems.add(
            Problem.of(
                    "DB-P016",
                    point.id(),
                    "ranks is %d, and kernel %s runs at two".formatted(ranks, protocol.name()))
                .fix(
                    "leave ranks out, or use a kernel whose descriptor says launch: { ranks: all"
                        + " }"));
      }
      return;
    }
    if (point.whole("qps") != 1) {
      problems.add(
          Problem.of(
                  "DB-P016",
                  point.id(),
                  "kernel %s with %d queue pairs".formatted(protocol.name(), point.whole("qps")))
              .effect("it runs at all ranks, and has one to each other rank")
              .fix("leave qps out"));
    }
    if (point.whole("size") * ranks > MOST_BYTES) {
      problems.add(
          Problem.of(
                  "DB-P016",
                  point.id(),
                  "a message of %d bytes for each of %d ranks"
                      .formatted(point.whole("size"), ranks))
              .fix("use at most 1 GiB together"));
    }
  }
}
