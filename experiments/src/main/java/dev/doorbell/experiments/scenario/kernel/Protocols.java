package dev.doorbell.experiments.scenario.kernel;

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

  /** The kernel of a name, or null. */
  public @Nullable Protocol find(String name) {
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
}
